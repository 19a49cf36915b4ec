/**
 * Tests that creating, changing or removing a custom kind updates the published documents without rewriting other
 * kinds.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { configMap } from '../../../src/api/kinds/core/config-map.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { Kind } from '../../../src/api/schema/kind.ts'
import { customKind } from '../../../src/apiserver/custom/objects/custom-kind.ts'
import { type Document, Documents } from '../../../src/apiserver/http/openapi/documents.ts'
import { type Served, serveKind } from '../../../src/apiserver/registry/catalogue/served.ts'

const vendor = vendorOf('orch')
const written = new Map<string, number>()

/** Returns a custom type that counts how often its schema is written. */
async function typeOf(plural: string, field: string): Promise<Served> {
  const schema = { type: 'object', properties: { [field]: { type: 'string' } } }
  const kind = `${plural.charAt(0).toUpperCase()}${plural.slice(1, -1)}`
  const definition = { group: 'stable.example.com', version: 'v1', kind, plural, scope: 'Namespaced', schema } as const
  const made = await customKind(definition, vendor, { path: '' })
  assert.equal(made.outcome, 'kind')
  const { kind: plain } = made as { kind: Kind }
  const publish = plain.schema.publish!
  const counted: Kind = {
    ...plain,
    schema: {
      ...plain.schema,
      publish: (publishing) => {
        written.set(plural, (written.get(plural) ?? 0) + 1)
        return publish(publishing)
      },
    },
  }
  return serveKind(counted, { vendor }, [])
}

async function textOf(document: Promise<Document | undefined>): Promise<string> {
  return (await promisify(gunzip)((await document)!.gzip)).toString()
}

test('changing a definition rewrites only the changed types in the OpenAPI documents', async () => {
  const own = serveKind(configMap, { vendor }, [])
  let types: readonly Served[] = [own, await typeOf('apples', 'a'), await typeOf('pears', 'p')]
  const documents = new Documents(() => ({
    vendor,
    emulated: '1.23' as const,
    extensions: true,
    version: '1',
    types,
    aggregated: { documents: [], v3: [] },
  }))
  const all = async () => ({
    json: JSON.parse(await textOf(documents.v2Json())),
    protobuf: await textOf(documents.v2Protobuf()),
    v3: await textOf(documents.v3('apis/stable.example.com/v1')),
  })
  const before = await all()
  assert.deepEqual([...written.values()], [3, 3], 'once in each document')
  assert.ok(before.json.definitions['com.example.stable.v1.Apple'].properties.a)
  assert.ok(before.json.paths['/apis/stable.example.com/v1/namespaces/{namespace}/pears'])

  const [, apples] = types
  types = [own, apples!, await typeOf('pears', 'changed')]
  written.clear()
  const { hash: core } = (await documents.v3('api/v1'))!
  const after = await all()
  assert.ok(after.json.definitions['com.example.stable.v1.Pear'].properties.changed)
  assert.equal(after.json.definitions['com.example.stable.v1.Pear'].properties.p, undefined)
  assert.ok(after.protobuf.includes('changed') && after.v3.includes('changed'))
  assert.deepEqual(Object.fromEntries(written), { pears: 3, apples: 1 }, 'apples only in the document of its version')

  types = [own, apples!]
  written.clear()
  const left = await all()
  assert.deepEqual(
    Object.keys(left.json.definitions).filter((name) => name.startsWith('com.example')),
    ['com.example.stable.v1.Apple', 'com.example.stable.v1.AppleList'],
  )
  assert.deepEqual(Object.fromEntries(written), { apples: 1 })
  assert.equal((await documents.v3('api/v1'))!.hash, core, 'other groups stay as they are')
})
