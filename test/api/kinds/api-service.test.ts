/**
 * Tests APIService: validation, automatic registration of the served versions, and reports about unreachable
 * backends.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { apiService } from '../../../src/api/kinds/apiregistration/api-service.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { serve } from '../../support/in-process.ts'
import { cellsOf, createBy, updateBy } from './rules.ts'

const plain = { group: 'a.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 }
const service = { namespace: 'n', name: 's' }

const cases: readonly (readonly [spec: JsonObject, faults: readonly string[], name?: string])[] = [
  [{}, []],
  [{ service }, []],
  [{ service, caBundle: 'YWJj' }, []],
  [{ service, caBundle: 'YWJj', insecureSkipTLSVerify: true }, ['Invalid spec.insecureSkipTLSVerify']],
  [{ caBundle: 'YWJj', insecureSkipTLSVerify: true }, ['Invalid spec.caBundle', 'Invalid spec.insecureSkipTLSVerify']],
  [
    { service: { port: 0 } },
    ['Invalid spec.service.port', 'Required spec.service.name', 'Required spec.service.namespace'],
  ],
  [{ service: { ...service, port: 65_536 } }, ['Invalid spec.service.port']],
  [
    { groupPriorityMinimum: 0, versionPriority: 0 },
    ['Invalid spec.groupPriorityMinimum', 'Invalid spec.versionPriority'],
  ],
  [
    { groupPriorityMinimum: 20_001, versionPriority: 1001 },
    ['Invalid spec.groupPriorityMinimum', 'Invalid spec.versionPriority'],
  ],
  [{ version: 'V_1' }, ['Invalid spec.version'], 'V_1.a.example.com'],
  [{ group: 'A_' }, ['Invalid spec.group'], 'v1.A_'],
  [{ group: '', version: 'v2' }, ['Required spec.group'], 'v2.'],
  [{}, ['Invalid metadata.name'], 'v1.b.example.com'],
]

test('an APIService with a generateName is rejected unless the generated name matches its group and version', () => {
  const sent = versionOf({})
  const named = { ...sent, metadata: { ...(sent.metadata as JsonObject), generateName: 'v1.' } }
  assert.deepEqual(createBy(apiService, named).faults, ['Invalid metadata.generateName'])
})

test('a status update does not change the metadata of an APIService', () => {
  const { object } = createBy(apiService, versionOf({}))
  const sent = versionOf({})
  const metadata = { ...(sent.metadata as JsonObject), labels: { a: 'b' }, finalizers: ['x'], annotations: { c: 'd' } }
  const written = updateBy(apiService, object, { ...sent, metadata, status: {} }, { subresource: 'status' })
  assert.deepEqual([written.faults, written.object.metadata], [[], object.metadata])
})

test('an APIService with an invalid spec or name is rejected', () => {
  for (const [spec, faults, name] of cases)
    assert.deepEqual(createBy(apiService, versionOf(spec, name)).faults, faults, JSON.stringify(spec))
})

test('a local APIService is available immediately, and the table shows its backend', () => {
  const local = createBy(apiService, versionOf({})).object
  const [condition] = (asJson(local).status as { conditions: JsonObject[] }).conditions
  assert.deepEqual([condition?.type, condition?.status, condition?.reason], ['Available', 'True', 'Local'])
  const remote = createBy(apiService, versionOf({ service })).object
  assert.deepEqual([asJson(remote).status, remote.spec], [{}, { ...plain, service: { ...service, port: 443 } }])
  assert.deepEqual(cellsOf(apiService, local).slice(1, 3), ['Local', 'True'])
  assert.deepEqual(cellsOf(apiService, remote).slice(1, 3), ['n/s', 'Unknown'])
})

const path = '/apis/apiregistration.orch.io/v1/apiservices'
const client = (await serve({ after })).client()

test('the server registers an APIService with its priorities for every API version that the server serves', async () => {
  const { items } = (await client.get(path)).body as { items: { metadata: JsonObject; spec: JsonObject }[] }
  const { groups } = (await client.get('/apis')).body as { groups: { name: string; versions: { version: string }[] }[] }
  const names = groups.flatMap(({ name, versions }) => versions.map(({ version }) => `${version}.${name}`))
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name).sort(),
    ['v1.', ...names.filter((name) => name !== 'v1.apiregistration.orch.io')].sort(),
  )
  for (const { metadata, spec } of items)
    assert.deepEqual(
      [metadata.labels, metadata.name],
      [{ 'kube-aggregator.orch.io/automanaged': 'onstart' }, `${spec.version}.${spec.group ?? ''}`],
    )
  const place = ({ spec }: { spec: JsonObject }) => -Number(spec.groupPriorityMinimum)
  const inOrder = items.toSorted((a, b) => place(a) - place(b)).map(({ spec }) => spec.group ?? '')
  assert.deepEqual(inOrder.slice(0, 2), ['', 'apps'])
})

test('the server creates and deletes the APIServices for custom resources together with their CustomResourceDefinitions', async () => {
  const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  const define = (plural: string, ...versions: string[]) =>
    client.post(definitions, {
      metadata: { name: `${plural}.come.example.com` },
      spec: {
        group: 'come.example.com',
        scope: 'Cluster',
        names: { plural, kind: `K${plural}` },
        versions: versions.map((name, i) => ({ name, served: true, storage: i === 0, schema })),
      },
    })
  assert.equal((await define('as', 'v1', 'v2')).status, 201)
  assert.equal((await define('bs', 'v2')).status, 201)
  await eventually('v2.come.example.com', ({ spec }) => spec?.groupPriorityMinimum === 1000)
  await eventually('v1.come.example.com', ({ metadata }) => metadata?.labels !== undefined)
  await client.delete(`${path}/v1.come.example.com`)
  await eventually('v1.come.example.com', ({ metadata }) => metadata?.uid !== undefined)
  await client.delete(`${definitions}/as.come.example.com`)
  await eventually('v1.come.example.com', ({ code }) => code === 404)
  assert.equal((await client.get(`${path}/v2.come.example.com`)).status, 200)
  await client.delete(`${definitions}/bs.come.example.com`)
  await eventually('v2.come.example.com', ({ code }) => code === 404)
})

test('a missing backend Service is reported in the status and in responses to clients', async () => {
  const spec = { ...plain, service, insecureSkipTLSVerify: true }
  assert.equal((await client.get('/apis/a.example.com/v1/things')).status, 404)
  assert.equal((await client.post(path, versionOf(spec))).status, 201)
  await eventually('v1.a.example.com', ({ status }) => status?.conditions?.[0]?.reason === 'ServiceNotFound')
  for (const asked of ['/apis/a.example.com/v1/things', '/apis/a.example.com/v1/namespaces/x/things/y']) {
    const refused = await client.get(asked)
    assert.deepEqual([refused.status, refused.body.reason], [503, 'ServiceUnavailable'])
    assert.match(
      refused.body.message,
      /cannot reach the backend of the APIService "v1\.a\.example\.com": service "s" not found/,
    )
  }
  assert.equal((await client.get('/apis/a.example.com/v2/things')).status, 404)
  await client.delete(`${path}/v1.a.example.com`)
  assert.equal((await client.get('/apis/a.example.com/v1/things')).status, 404)
})

const schema = { openAPIV3Schema: { type: 'object' } }

interface Seen {
  readonly code?: number
  readonly metadata?: JsonObject
  readonly spec?: JsonObject
  readonly status?: { readonly conditions?: readonly JsonObject[] }
}

/** Waits until the APIService matches. Polls because the server updates APIServices asynchronously. */
async function eventually(name: string, fits: (seen: Seen) => boolean): Promise<void> {
  const ends = Date.now() + 60_000
  while (!fits((await client.get(`${path}/${name}`)).body)) {
    assert.ok(Date.now() < ends, `${name} did not reach the expected state`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

function versionOf(spec: JsonObject, name = 'v1.a.example.com'): JsonObject {
  const apiVersion = 'apiregistration.orch.io/v1'
  return { apiVersion, kind: 'APIService', metadata: { name }, spec: { ...plain, ...spec } }
}
