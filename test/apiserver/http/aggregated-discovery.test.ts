/**
 * Tests aggregated discovery: one document contains all groups and resource types, including the groups of other
 * servers.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { AggregatedServer, giveService } from '../../support/aggregated.ts'
import { serve } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const group = 'apidiscovery.orch.io'
const listOf = (version: string, type = 'application/json') =>
  `${type};g=${group};v=${version};as=APIGroupDiscoveryList`
const v2 = { accept: listOf('v2') }

const server = await serve({ after }, ['--emulated-version=1.36'])
const oldest = await serve({ after })
const client = server.client()

interface Entry {
  readonly resource: string
  readonly responseKind: object
  readonly scope: string
  readonly singularResource: string
  readonly verbs: string[]
  readonly shortNames?: string[]
  readonly subresources?: { subresource: string; responseKind: object; verbs: string[] }[]
}
interface Item {
  readonly metadata: { name?: string; creationTimestamp?: null }
  readonly versions: { version: string; resources?: Entry[]; freshness: string }[]
}

async function groups(path = '/apis'): Promise<Item[]> {
  const { status, body } = await client.get(path, v2)
  assert.equal(status, 200)
  return body.items
}
const findGroup = async (name: string) => (await groups()).find(({ metadata }) => metadata.name === name)

test('the aggregated discovery document at /api contains the core group', async () => {
  const { body, headers } = await client.get('/api', v2)
  assert.equal(headers['content-type'], listOf('v2'))
  assert.equal(headers.vary, 'Accept')
  assert.equal(headers['cache-control'], 'public')
  assert.deepEqual([body.kind, body.apiVersion, body.metadata], ['APIGroupDiscoveryList', `${group}/v2`, {}])
  const [core, ...others] = body.items as Item[]
  assert.deepEqual([core?.metadata, others], [{}, []])
  const resources = core?.versions[0]?.resources ?? []
  const accounts = resources.find(({ resource }) => resource === 'serviceaccounts')
  assert.deepEqual(accounts, {
    resource: 'serviceaccounts',
    responseKind: { group: '', version: '', kind: 'ServiceAccount' },
    scope: 'Namespaced',
    singularResource: 'serviceaccount',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['sa'],
    subresources: [
      {
        subresource: 'token',
        responseKind: { group: 'authentication.orch.io', version: 'v1', kind: 'TokenRequest' },
        verbs: ['create'],
      },
    ],
  })
})

test('the aggregated discovery document has the same groups, versions and resource types as the other documents', async () => {
  const items = await groups()
  const { body } = await client.get('/apis')
  assert.deepEqual(
    items.map(({ metadata, versions }) => [metadata.name, versions.map(({ version }) => version)]),
    body.groups.map(({ name, versions }: { name: string; versions: { version: string }[] }) => [
      name,
      versions.map(({ version }) => version),
    ]),
  )
  for (const { metadata, versions } of items)
    for (const { version, resources, freshness } of versions) {
      assert.equal(freshness, 'Current')
      const list = (await client.get(`/apis/${metadata.name}/${version}`)).body.resources as { name: string }[]
      const names = (resources ?? []).flatMap(({ resource, subresources = [] }) => [
        resource,
        ...subresources.map(({ subresource }) => `${resource}/${subresource}`),
      ])
      assert.deepEqual(
        names,
        list.map(({ name }) => name),
      )
    }
})

test('a client that sends exactly the current ETag gets a 304', async () => {
  const { etag } = (await client.get('/apis', v2)).headers
  assert.match(String(etag), /^"[\w-]{22}"$/)
  const condition = async (value: string) => await client.get('/apis', { ...v2, 'if-none-match': value })
  const unchanged = await condition(String(etag))
  assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers.vary], [304, '', 'Accept'])
  for (const value of ['"0000"', '*', `W/${etag}`, `"0000", ${etag}`])
    assert.equal((await condition(value)).status, 200)
})

const choices: readonly [accept: string, kind: string][] = [
  [`application/json,${listOf('v2')}`, 'APIGroupDiscoveryList'],
  [`application/json;q=0.9,${listOf('v2')};q=0.1`, 'APIGroupDiscoveryList'],
  [`${listOf('v2beta1')},${listOf('v2')},application/json`, 'APIGroupDiscoveryList'],
  [listOf('v2', '*/*'), 'APIGroupDiscoveryList'],
  [`${listOf('v3')},application/json`, 'APIGroupList'],
  ['*/*', 'APIGroupList'],
  [listOf('v2beta1'), 'Status'],
  [`application/json;g=${group};v=v2`, 'Status'],
]
for (const [accept, kind] of choices)
  test(`Accept: ${accept} selects ${kind}`, async () => {
    const { status, body } = await client.get('/apis', { accept })
    assert.deepEqual([status, body.kind], [kind === 'Status' ? 406 : 200, kind])
  })

test('the aggregated discovery document is available in YAML and Protobuf', async () => {
  const yaml = await client.get('/api', { accept: listOf('v2', 'application/yaml') })
  assert.equal(yaml.headers['content-type'], listOf('v2', 'application/yaml'))
  assert.match(yaml.text, /^apiVersion: apidiscovery\.orch\.io\/v2\nitems:\n- metadata: \{\}\n {2}versions:\n/)
  const protobuf = await client.get('/api', { accept: listOf('v2', 'application/vnd.orch.protobuf') })
  assert.equal(protobuf.headers['content-type'], listOf('v2', 'application/vnd.orch.protobuf'))
  assert.match(protobuf.text, /APIGroupDiscoveryList.*serviceaccounts/s)
})

test('aggregated discovery allows only GET and is not served at group paths', async () => {
  assert.equal((await client.send('/api', { method: 'POST', headers: v2, body: {} })).status, 405)
  assert.equal((await client.get('/apis/apps', v2)).status, 406)
  assert.equal((await client.get('/apis/apps/v1', v2)).status, 406)
})

test('Kubernetes 1.23 serves only unaggregated discovery documents', async () => {
  assert.equal((await oldest.client().get('/apis', v2)).status, 406)
  const { body } = await oldest.client().get('/api/v1')
  assert.ok(body.resources.every(({ singularName }: { singularName: string }) => singularName === ''))
})

test('the aggregated discovery document lists a custom resource until its definition is deleted, and the ETag changes', async () => {
  const before = (await client.get('/apis', v2)).headers.etag
  const version = (name: string, isStored: boolean) => ({
    name,
    served: true,
    storage: isStored,
    schema: { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } },
    subresources: { status: {}, scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' } },
  })
  const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  const created = await client.post(definitions, {
    metadata: { name: 'widgets.list.example.com' },
    spec: {
      group: 'list.example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version('v1', true), version('v2', false)],
    },
  })
  assert.equal(created.status, 201, created.text)
  const item = await until(
    () => findGroup('list.example.com'),
    (found) => found !== undefined,
  )
  assert.deepEqual(
    item?.versions.map((each) => each.version),
    ['v2', 'v1'],
  )
  const [entry] = item?.versions[0]?.resources ?? []
  assert.deepEqual([entry?.scope, entry?.singularResource], ['Cluster', 'widget'])
  const own = { group: 'list.example.com', version: 'v2', kind: 'Widget' }
  assert.deepEqual(entry?.responseKind, own)
  assert.deepEqual(
    entry?.subresources?.map(({ subresource, responseKind }) => [subresource, responseKind]),
    [
      ['status', own],
      ['scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' }],
    ],
  )
  assert.notEqual((await client.get('/apis', v2)).headers.etag, before)
  await client.delete(`${definitions}/widgets.list.example.com`)
  await until(
    () => findGroup('list.example.com'),
    (found) => found === undefined,
  )
})

test('the group of an aggregated API server is merged into the discovery document, and is marked as stale while that server is unreachable', async () => {
  const configMap = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
  const trust = await until(
    () => client.get(configMap),
    ({ status }) => status === 200,
  )
  const authority: string = trust.body.data['requestheader-client-ca-file']
  const backend = await AggregatedServer.start({ after }, { authority })
  await giveService(client)
  const services = '/apis/apiregistration.orch.io/v1/apiservices'
  assert.equal((await client.post(services, backend.apiService())).status, 201)
  const versionOf = async () => (await findGroup('a.example.com'))?.versions[0]
  const current = await until(versionOf, (found) => found?.freshness === 'Current')
  assert.deepEqual(current?.resources, [
    {
      resource: 'things',
      responseKind: { group: '', version: '', kind: 'Thing' },
      scope: 'Namespaced',
      singularResource: 'thing',
      verbs: ['get', 'list', 'watch', 'create'],
    },
  ])
  await backend.stop()
  await client.get('/apis/a.example.com/v1/echo')
  const stale = await until(versionOf, (found) => found?.freshness === 'Stale')
  assert.deepEqual(stale?.resources, current?.resources)
  await backend.start()
  await until(versionOf, (found) => found?.freshness === 'Current')
})
