/** Tests a definition that is deleted and recreated with another schema while objects are written and listed. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { HttpClient } from '../../support/http-client.ts'
import { startInProcess } from '../../support/in-process.ts'
import { long } from '../../support/long.ts'
import { collectionOf, define, typeOf, undefine } from './definitions.ts'

const server = await startInProcess()
after(() => server.stop())
const { client } = server

const definitionOptions = { plural: 'turns', kind: 'Turn' }
const collection = collectionOf(definitionOptions)
const rounds = long ? 40 : 4
const writers = 4

/** Returns a schema with a single spec field, whose default is its own name. */
function schemaOf(member: string) {
  const spec = { type: 'object', default: {}, properties: { [member]: { type: 'string', default: member } } }
  return { type: 'object', properties: { spec } }
}

interface Shown {
  readonly spec: { readonly [member: string]: string }
}

test('while a definition is recreated, each read and write uses either the old or the new schema, never a mixture', async () => {
  const ending = new AbortController()
  const found: string[] = []
  const load = Promise.all([
    ...Array.from({ length: writers }, (_, i) => write(client, `w${i}`, found, ending.signal)),
    list(client, ending.signal),
  ])
  for (let round = 0; round < rounds; round++) {
    const member = `m${round}`
    const name = await define(client, { ...definitionOptions, schema: schemaOf(member) })
    const sent = {
      ...typeOf(definitionOptions),
      metadata: { name: `after-${round}` },
      spec: { m0: 'sent', unknown: 'sent' },
    }
    const made = await client.post(collection, sent)
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(made.body.spec, { [member]: member === 'm0' ? 'sent' : member })
    const { items } = (await client.get(collection)).body
    assert.deepEqual([...new Set(items.map(membersOf))], [member], 'objects of an earlier definition are there')
    await undefine(client, name)
  }
  ending.abort()
  await load
  assert.ok(found.length > rounds, 'hardly anything was written')
})

function membersOf({ spec }: Shown): string {
  return Object.keys(spec).join()
}

/**
 * Writes objects until the signal aborts. Each response must be an object that conforms to one of the schemas, or
 * report that the kind does not exist.
 */
async function write(on: HttpClient, prefix: string, found: string[], signal: AbortSignal): Promise<void> {
  for (let i = 0; !signal.aborted; i++) {
    const made = await on.post(collection, { ...typeOf(definitionOptions), metadata: { name: `${prefix}-${i}` } })
    if (made.status === 404 || made.status === 405) continue
    assert.equal(made.status, 201, made.text)
    assert.match(membersOf(made.body), /^m\d+$/)
    found.push(membersOf(made.body))
  }
}

async function list(on: HttpClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const shown = await on.get(collection)
    if (shown.status === 404) continue
    assert.equal(shown.status, 200, shown.text)
    const forms = new Set((shown.body.items as Shown[]).map(membersOf))
    assert.ok(forms.size <= 1, `one list has objects of ${[...forms].join(' and ')}`)
  }
}
