/**
 * Tests custom kinds on a real server. The kinds are created, used, changed and removed at runtime, on all servers of a
 * store, across restarts and crashes.
 */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { endOfFile } from '../../support/end-of-file.ts'
import { startEtcd } from '../../support/etcd.ts'
import type { HttpClient, WatchEvent } from '../../support/http-client.ts'
import { type Restartable, serve, serveUp } from '../../support/in-process.ts'
import { longTest } from '../../support/long.ts'
import { startServer } from '../../support/server.ts'
import {
  collectionOf,
  conditionOf,
  type DefinitionOptions,
  define,
  definitionOf,
  definitions,
  isEstablished,
  isGone,
  typeOf,
  undefine,
  waitForEvent,
} from './definitions.ts'

const owner = endOfFile()

const widget = (name: string, size = 1, wanted: DefinitionOptions = {}) => ({
  ...typeOf(wanted),
  metadata: { name },
  spec: { size },
})

const mergePatch = { 'content-type': 'application/merge-patch+json' }

describe('a CustomResourceDefinition on one server', () => {
  let server: Restartable
  let client: HttpClient
  before(async () => {
    server = await serveUp(owner)
    client = server.client()
  })

  test('unknown schema keywords in a CustomResourceDefinition are dropped with a warning', async () => {
    const schema = {
      type: 'object',
      Required: ['a'],
      properties: {
        a: { type: 'object', properties: {}, foo: 1 },
        b: { type: 'string', nullable: null, default: null },
      },
    }
    const definition = definitionOf({ plural: 'oddities', kind: 'Oddity', schema })
    const made = await client.post(`${definitions}?dryRun=All`, definition)
    assert.equal(made.status, 201, made.text)
    const at = 'spec.versions[0].schema.openAPIV3Schema'
    const warnings = String(made.headers.warning)
    assert.ok(warnings.includes(`${at}.Required`) && warnings.includes(`${at}.properties[a].foo`), warnings)
    const kept = { type: 'object', properties: { a: { type: 'object' }, b: { type: 'string' } } }
    assert.deepEqual(made.body.spec.versions[0].schema.openAPIV3Schema, kept)
    const strict = await client.post(`${definitions}?dryRun=All&fieldValidation=Strict`, definition)
    assert.equal(strict.status, 400, strict.text)
    const wrong = definitionOf({ schema: { type: 'object', properties: { a: { type: 'integer', minimum: 'x' } } } })
    assert.equal((await client.post(`${definitions}?dryRun=All`, wrong)).status, 400)
  })

  test('the server keeps validation rules that only newer Kubernetes versions support', async (t) => {
    const client = (await serve(t, ['--emulated-version=1.23'])).client()
    const rules = [{ rule: 'self.a == 1', message: 'm', messageExpression: '"x"' }]
    const properties = { a: { type: 'integer' } }
    const schema = { type: 'object', properties, 'x-orch-validations': rules }
    const made = await client.post(`${definitions}?dryRun=All&fieldValidation=Strict`, definitionOf({ schema }))
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(made.body.spec.versions[0].schema.openAPIV3Schema['x-orch-validations'], rules)
    const warning = 'messageExpression in x-orch-validations is stored in the schema but not enforced'
    assert.match(String(made.headers.warning), new RegExp(`version v1: ${warning}`))
  })

  test('all errors in a CustomResourceDefinition are reported at once', async () => {
    const schema = { type: 'object', properties: { a: {}, b: { type: 'string', pattern: '(' } } }
    const columns = [{ name: 'A', type: 'string', jsonPath: 'spec.a' }]
    const made = await client.post(definitions, {
      ...definitionOf({ schema, version: { additionalPrinterColumns: columns } }),
      metadata: { name: 'others.example.com' },
    })
    assert.equal(made.status, 422)
    assert.deepEqual(made.body.details.causes.map(({ field }: { field: string }) => field).sort(), [
      'metadata.name',
      'spec.additionalPrinterColumns[0].JSONPath',
      'spec.versions[0].schema.openAPIV3Schema.properties[a].type',
      'spec.versions[0].schema.openAPIV3Schema.properties[b].pattern',
    ])
  })

  test('a CustomResourceDefinition without a name causes only one error', async () => {
    const made = await client.post(definitions, { ...definitionOf({}), metadata: {} })
    const causes: { reason: string; field: string }[] = made.body.details.causes
    assert.deepEqual(
      causes.map(({ reason, field }) => `${reason} ${field}`),
      ['FieldValueRequired metadata.name'],
    )
  })

  test('empty names in a definition are reported as malformed, and an invalid conversion strategy is reported together with webhook errors', async () => {
    const definition = definitionOf({ shortNames: [''], version: { name: '' } })
    const conversion = {
      strategy: 'Odd',
      webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] },
    }
    const made = await client.post(definitions, { ...definition, spec: { ...definition.spec, conversion } })
    const causes: { reason: string; field: string }[] = made.body.details.causes
    assert.deepEqual(causes.map(({ reason, field }) => `${reason.slice('FieldValue'.length)} ${field}`).sort(), [
      'Forbidden spec.conversion.conversionReviewVersions',
      'Forbidden spec.conversion.webhookClientConfig',
      'Invalid spec.names.shortNames[0]',
      'Invalid spec.versions[0].name',
      'NotSupported spec.conversion.strategy',
    ])
  })

  test('a definition with a conversion webhook cannot preserve unknown fields, and generateName is rejected', async () => {
    const definition = definitionOf({})
    const webhook = { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] }
    const spec = { ...definition.spec, conversion: { strategy: 'Webhook', webhook }, preserveUnknownFields: true }
    const metadata = { ...definition.metadata, generateName: 'w' }
    const { body } = await client.post(definitions, { ...definition, metadata, spec })
    assert.deepEqual(body.details.causes.map(({ field }: { field: string }) => field).sort(), [
      'metadata.generateName',
      'spec.conversion.strategy',
      'spec.preserveUnknownFields',
    ])
  })

  test('invalid names in the status of a definition are rejected', async () => {
    const name = await define(client, { plural: 'named', kind: 'Named' })
    const patched = await client.send(`${definitions}/${name}/status`, {
      method: 'PATCH',
      headers: mergePatch,
      body: { status: { acceptedNames: { singular: 'No Name', shortNames: ['x_y'] } } },
    })
    assert.equal(patched.status, 422, patched.text)
    assert.deepEqual(patched.body.details.causes.map(({ field }: { field: string }) => field).sort(), [
      'status.acceptedNames.shortNames[0]',
      'status.acceptedNames.singular',
    ])
    await undefine(client, name)
  })

  test('all endpoints serve a custom kind as soon as its definition is established', async () => {
    const name = await define(client, { shortNames: ['wd'] })
    const path = collectionOf()
    const made = await client.post(path, { ...widget('a'), junk: 1 })
    assert.equal(made.status, 201, made.text)
    assert.match(String(made.headers.warning), /unknown field \\"junk\\"/)
    assert.deepEqual(made.body.spec, { size: 1 })

    const [group, version, resources] = await Promise.all([
      client.get('/apis/stable.example.com'),
      client.get('/apis/stable.example.com/v1'),
      client.get('/apis'),
    ])
    assert.equal(group.body.preferredVersion.version, 'v1')
    const [entry] = version.body.resources
    assert.deepEqual([entry.name, entry.singularName, entry.shortNames], ['widgets', 'widget', ['wd']])
    assert.ok(resources.body.groups.some((each: { name: string }) => each.name === 'stable.example.com'))
    const v2 = (await client.get('/openapi/v2')).body
    assert.ok(v2.definitions['com.example.stable.v1.Widget'], 'published under the name of its own domain')
    const v3 = (await client.get('/openapi/v3/apis/stable.example.com/v1')).body
    assert.ok(v3.paths['/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}'])

    const table = await client.get(path, { accept: 'application/json;as=Table;g=meta.orch.io;v=v1' })
    assert.deepEqual(
      table.body.columnDefinitions.map((column: { name: string }) => column.name),
      ['Name', 'Age'],
    )
    const applied = await client.send(`${path}/b?fieldManager=me`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'stable.example.com/v1', kind: 'Widget', metadata: { name: 'b' }, spec: { color: 'red' } },
    })
    assert.equal(applied.status, 201, applied.text)
    const wrong = await client.post(path, { ...widget('c'), spec: { size: 'large' } })
    assert.equal(wrong.status, 422)
    assert.equal(wrong.body.details.causes[0].field, 'spec.size')
    await undefine(client, name)
    assert.equal((await client.get(path)).status, 404)
    assert.equal((await client.get('/apis/stable.example.com')).status, 404)
    assert.ok(!(await client.get('/openapi/v2')).text.includes('com.example.stable'))
  })

  test('changes to a definition apply immediately, even to stored objects', async () => {
    const wanted = { plural: 'gears', kind: 'Gear' }
    const name = await define(client, wanted)
    const path = collectionOf(wanted)
    const object = { ...widget('a', 1, wanted), spec: { size: 1, color: 'red' } }
    assert.equal((await client.post(path, object)).status, 201)
    const watching = client.watch(`${path}?watch=1`, AbortSignal.timeout(120_000))
    assert.equal((await watching.next()).value?.object.metadata.name, 'a')

    const size = { type: 'integer', default: 7 }
    const spec = { type: 'object', properties: { size, tone: { type: 'string', default: 'C' } } }
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } }
    const versions = [
      { name: 'v1', served: true, storage: false, schema },
      { name: 'v2', served: true, storage: true, schema },
    ]
    const changed = await client.send(`${definitions}/${name}`, {
      method: 'PATCH',
      headers: mergePatch,
      body: { spec: { versions } },
    })
    assert.equal(changed.status, 200, changed.text)
    assert.deepEqual(changed.body.status.storedVersions, ['v1', 'v2'])
    // Watches in the old format end after the change.
    assert.equal((await watching.next()).done, true)
    const shown = { size: 1, tone: 'C' }
    const [old, next] = await Promise.all([client.get(`${path}/a`), client.get(`${path.replace('/v1/', '/v2/')}/a`)])
    assert.deepEqual([old.body.apiVersion, old.body.spec], ['stable.example.com/v1', shown])
    assert.deepEqual([next.body.apiVersion, next.body.spec], ['stable.example.com/v2', shown])
    const list = (await client.get(path.replace('/v1/', '/v2/'))).body
    assert.deepEqual(
      list.items.map((item: { apiVersion: string; spec: object }) => [item.apiVersion, item.spec]),
      [['stable.example.com/v2', shown]],
    )
    const group = (await client.get('/apis/stable.example.com')).body
    assert.equal(group.preferredVersion.version, 'v2')
    await undefine(client, name)
  })

  test('a definition is not established while its names are used by another definition', async () => {
    const first = await define(client, { plural: 'ones', kind: 'Same' })
    const second = definitionOf({ plural: 'twos', kind: 'Same' })
    assert.equal((await client.post(definitions, second)).status, 201)
    const { name } = second.metadata
    const { object } = await waitForEvent(
      client,
      name,
      (event) => conditionOf(event.object, 'NamesAccepted') === 'False',
    )
    assert.equal(conditionOf(object, 'Established'), 'False')
    const unserved = await client.get(collectionOf({ plural: 'twos' }))
    assert.equal(unserved.status, 404)
    assert.equal(unserved.text, '404 page not found\n')
    await undefine(client, first)
    await isEstablished(client, name)
    assert.equal((await client.get(collectionOf({ plural: 'twos' }))).status, 200)
    await undefine(client, name)
  })

  test('a definition cannot replace a built-in kind', async () => {
    const own = definitionOf({ plural: 'certificatesigningrequests', kind: 'Other', group: 'certificates.orch.io' })
    const annotations = { 'api-approved.orch.io': 'unapproved, a test' }
    const made = await client.post(definitions, { ...own, metadata: { ...own.metadata, annotations } })
    assert.equal(made.status, 201, made.text)
    await waitForEvent(client, own.metadata.name, ({ object }) => conditionOf(object, 'NamesAccepted') === 'False')
    const listed = await client.get('/apis/certificates.orch.io/v1/certificatesigningrequests')
    assert.equal(listed.body.kind, 'CertificateSigningRequestList')
    await undefine(client, own.metadata.name)
  })

  test('a deleted definition is removed after its last object, and meanwhile creates are rejected and watches end', async () => {
    const wanted = { plural: 'holds', kind: 'Hold' }
    const name = await define(client, wanted)
    const path = collectionOf(wanted)
    const held = { ...typeOf(wanted), metadata: { name: 'held', finalizers: ['example.com/hold'] } }
    assert.equal((await client.post(path, held)).status, 201)
    assert.equal((await client.post(path, widget('free', 1, wanted))).status, 201)
    const events: WatchEvent[] = []
    const watching = (async () => {
      for await (const event of client.watch(`${path}?watch=1`, AbortSignal.timeout(60_000))) events.push(event)
    })()
    const deleted = await client.delete(`${definitions}/${name}`)
    assert.equal(conditionOf(deleted.body, 'Terminating'), 'True')
    const refused = await client.post(path, widget('new', 1, wanted))
    assert.match(refused.body.message, /create not allowed while custom resource definition is terminating/)
    assert.equal((await client.get(`${definitions}/${name}`)).status, 200)
    const released = await client.send(`${path}/held`, {
      method: 'PATCH',
      headers: mergePatch,
      body: { metadata: { finalizers: null } },
    })
    assert.equal(released.status, 200, released.text)
    await isGone(client, name)
    await watching
    const deletions = events.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.name)
    assert.deepEqual(deletions.sort(), ['free', 'held'])
    assert.equal((await client.get(path)).status, 404)
  })

  test('custom objects are deleted with their namespace', async () => {
    const name = await define(client)
    assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: 'short' } })).status, 201)
    assert.equal((await client.post(collectionOf({}, 'short'), widget('a'))).status, 201)
    assert.equal((await client.delete('/api/v1/namespaces/short')).status, 200)
    const path = '/api/v1/namespaces?watch=1&fieldSelector=metadata.name%3Dshort&timeoutSeconds=60'
    for await (const { type } of client.watch(path, AbortSignal.timeout(60_000))) if (type === 'DELETED') break
    const left = await client.get('/apis/stable.example.com/v1/widgets')
    assert.deepEqual(left.body.items, [])
    await undefine(client, name)
  })
})

test('a starting server serves all custom kinds before it becomes ready', async (t) => {
  const server = await startServer(t)
  const name = await define(server.client())
  assert.equal((await server.client().post(collectionOf(), widget('a', 3))).status, 201)
  await server.kill()
  await server.restart()
  const client = server.client()
  const read = await client.get(`${collectionOf()}/a`)
  assert.equal(read.status, 200, read.text)
  assert.deepEqual(read.body.spec, { size: 3 })
  const list = await client.get('/apis/stable.example.com/v1')
  assert.equal(list.body.resources[0].name, 'widgets')
  await undefine(client, name)
})

longTest('a restarted server completes a deletion that a kill interrupted', async (t) => {
  const server = await startServer(t)
  const client = server.client()
  const name = await define(client)
  const path = collectionOf()
  for (let i = 0; i < 400; i += 50)
    await Promise.all(
      Array.from({ length: 50 }, async (_, j) => {
        const made = await client.post(path, widget(`w${i + j}`))
        assert.equal(made.status, 201, made.text)
      }),
    )
  const first = client.watch(`${path}?watch=1&resourceVersion=0`, AbortSignal.timeout(60_000))
  assert.equal((await client.delete(`${definitions}/${name}`)).status, 200)
  let deletions = 0
  for await (const { type } of first) if (type === 'DELETED' && ++deletions >= 20) break
  await server.kill()
  await server.restart()
  const again = server.client()
  await isGone(again, name)
  assert.equal((await again.get(path)).status, 404)
  // The recreated definition has none of the old objects.
  await define(again)
  assert.deepEqual((await again.get(path)).body.items, [])
})

describe('a CustomResourceDefinition on two servers', () => {
  let one: HttpClient
  let two: HttpClient
  before(async () => {
    const cluster = await startEtcd()
    owner.after(() => cluster.stop())
    const start = () => serve(owner, [`--etcd-servers=${cluster.endpoints}`])
    const servers = await Promise.all([start(), start()])
    one = servers[0]!.client()
    two = servers[1]!.client()
  })

  test('a definition created on one server is served and removed by the other server', async () => {
    const name = await define(one)
    const made = await two.post(collectionOf(), widget('a'))
    assert.equal(made.status, 201, made.text)
    assert.equal((await one.get(`${collectionOf()}/a`)).status, 200)
    await undefine(two, name)
    // The other server removes the type once it has received the deletion.
    await isGone(one, name)
    const watched = one.watch(`${collectionOf()}?watch=1`, AbortSignal.timeout(120_000))
    // Either the type no longer exists, or a watch on it ends now.
    await watched.next().catch((error: { code?: string }) => assert.equal(error.code, 'HTTP_404'))
  })

  test('a watch on another server returns each object exactly once, even if it is written while that server starts to serve the kind', async () => {
    for (let round = 0; round < 5; round++) {
      const wanted = { plural: `rounds${round}`, kind: `Round${round}` }
      const path = collectionOf(wanted)
      const count = 60
      const defining = define(one, wanted)
      const writing = defining.then(async () => {
        for (let i = 0; i < count; i += 10)
          await Promise.all(
            Array.from({ length: 10 }, async (_, j) => {
              const made = await one.post(path, widget(`w${i + j}`, 1, wanted))
              assert.equal(made.status, 201, made.text)
            }),
          )
      })
      const seen = new Map<string, number>()
      await defining
      // A watch ends if the type is not served yet or its definition is being changed. The next watch then returns all
      // events.
      for (let attempt = 0; seen.size < count; attempt++) {
        assert.ok(attempt < 600, `only ${seen.size} of ${count} were told`)
        if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 50))
        seen.clear()
        for await (const { type, object } of two.watch(`${path}?watch=1`, AbortSignal.timeout(60_000))) {
          assert.equal(type, 'ADDED')
          seen.set(object.metadata.name, (seen.get(object.metadata.name) ?? 0) + 1)
          if (seen.size === count) break
        }
      }
      await writing
      assert.deepEqual([...new Set(seen.values())], [1])
      assert.equal((await two.get(path)).body.items.length, count)
      await undefine(one, `${wanted.plural}.stable.example.com`)
    }
  })

  test('if two definitions of the same kind are created concurrently, only one is accepted', async () => {
    for (let round = 0; round < 5; round++) {
      const kind = `Wanted${round}`
      const pair = [definitionOf({ plural: `as${round}`, kind }), definitionOf({ plural: `bs${round}`, kind })] as const
      const made = await Promise.all([one.post(definitions, pair[0]), two.post(definitions, pair[1])])
      assert.deepEqual(
        made.map(({ status }) => status),
        [201, 201],
      )
      const judged = await Promise.all(
        pair.map(({ metadata }) =>
          waitForEvent(one, metadata.name, ({ object }) => conditionOf(object, 'Established') !== undefined),
        ),
      )
      const established = judged.filter(({ object }) => conditionOf(object, 'Established') === 'True')
      assert.equal(established.length, 1)
      for (const { metadata } of pair) await undefine(one, metadata.name)
    }
  })
})
