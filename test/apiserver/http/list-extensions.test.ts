/** Tests the list parameters that only this server has: `fields`, `sort` and `count`. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after })
const client = server.client('admin-token')
const path = '/api/v1/namespaces/extended/pods'

await client.post('/api/v1/namespaces', { metadata: { name: 'extended' } })
await client.post('/api/v1/namespaces/extended/serviceaccounts', { metadata: { name: 'default' } })
const pods = [
  { name: 'a', labels: { tier: 'web', 'orch.io/order': '2' }, cpu: '1' },
  { name: 'b', labels: { tier: 'db' }, cpu: '200m' },
  { name: 'c', labels: { tier: 'web', 'orch.io/order': '10' }, cpu: '1500m' },
  { name: 'd', labels: { tier: 'web', 'orch.io/order': '1' }, cpu: '2' },
]
for (const { name, labels, cpu } of pods) {
  const containers = ['one', 'two'].map((each) => ({ name: each, image: `${name}-${each}` }))
  await client.post(path, {
    metadata: { name, labels },
    spec: { overhead: undefined, containers, hostname: `h${cpu}` },
  })
}

async function list(query: string, at = path, accept = 'application/json') {
  const { status, body } = await client.get(`${at}?${query}`, { accept })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

const openObject = { type: 'object', 'x-orch-preserve-unknown-fields': true }

const names = (body: { items: { metadata: { name: string } }[] }) => body.items.map(({ metadata }) => metadata.name)

const cuts: readonly (readonly [string, object])[] = [
  ['metadata.name', { metadata: { name: 'a' } }],
  ['spec.containers.image', { spec: { containers: [{ image: 'a-one' }, { image: 'a-two' }] } }],
  ["metadata.labels['orch.io/order']", { metadata: { labels: { 'orch.io/order': '2' } } }],
  ['metadata.labels["tier"],spec.hostname', { metadata: { labels: { tier: 'web' } }, spec: { hostname: 'h1' } }],
  ['metadata.name,metadata.labels,metadata.labels.tier', { metadata: { name: 'a', labels: pods[0]!.labels } }],
  ['status.phase', { status: { phase: 'Pending' } }],
  ['spec.nodeName', {}],
  ['metadata.labels.__proto__', {}],
  ['spec.containers.env.name', { spec: { containers: [{}, {}] } }],
]
for (const [fields, expected] of cuts)
  test(`a list with fields=${fields} returns only the specified fields`, async () => {
    const body = await list(`fieldSelector=metadata.name%3Da&fields=${encodeURIComponent(fields)}`)
    assert.deepEqual(body.items, [expected])
    assert.equal(body.kind, 'PodList')
  })

test('the fields parameter applies to all pages and to YAML, and a client that prefers a table gets JSON', async () => {
  const page = await list('fields=metadata.name&limit=3')
  const rest = await list(`fields=metadata.name&limit=3&continue=${page.metadata.continue}`)
  assert.deepEqual(
    [...page.items, ...rest.items],
    pods.map(({ name }) => ({ metadata: { name } })),
  )
  const table = 'application/json;as=Table;g=meta.orch.io;v=v1, application/json'
  assert.deepEqual(await list('fields=metadata.name&limit=3', path, table), page)
  const yaml = await client.send(`${path}?fields=metadata.name&limit=1`, {
    headers: { accept: 'application/yaml' },
  })
  assert.match(yaml.text, /\nitems:\n- metadata:\n {4}name: a\n/)
})

const orders: readonly (readonly [string, string])[] = [
  ['metadata.name', 'abcd'],
  ['-metadata.name', 'dcba'],
  ["metadata.labels['orch.io/order']", 'dcab'],
  ["-metadata.labels['orch.io/order']", 'acdb'],
  ['metadata.labels.tier,-metadata.name', 'bdca'],
  ['spec.nodeName', 'abcd'],
]
for (const [sort, expected] of orders)
  test(`a list with sort=${sort} returns the pods in the order ${expected}`, async () => {
    const sorted = `sort=${encodeURIComponent(sort)}`
    assert.equal(names(await list(sorted)).join(''), expected)
    const pages: string[] = []
    for (let token = ''; ; ) {
      const page = await list(`${sorted}&limit=1&continue=${token}`)
      pages.push(...names(page))
      assert.equal(page.metadata.remainingItemCount ?? 0, 4 - pages.length)
      token = page.metadata.continue ?? ''
      if (token === '') break
    }
    assert.equal(pages.join(''), expected)
  })

test('a sorted list orders quantities by amount and numbers by value', async () => {
  const claims = '/api/v1/namespaces/extended/persistentvolumeclaims'
  for (const [name, storage] of [
    ['x', '1Gi'],
    ['y', '900Mi'],
    ['z', '10G'],
  ] as const)
    await client.post(claims, {
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    })
  assert.deepEqual(names(await list('sort=spec.resources.requests.storage', claims)), ['y', 'x', 'z'])
})

test('all pages of a sorted list belong to one snapshot', async () => {
  const maps = '/api/v1/namespaces/extended/configmaps'
  for (const name of ['1', '2', '3']) await client.post(maps, { metadata: { name, labels: { rank: name } } })
  const first = await list('sort=-metadata.labels.rank&limit=1', maps)
  await client.post(maps, { metadata: { name: '4', labels: { rank: '0' } } })
  await client.delete(`${maps}/1`)
  const rest = await list(`sort=-metadata.labels.rank&limit=5&continue=${first.metadata.continue}`, maps)
  assert.deepEqual([...names(first), ...names(rest)], ['3', '2', '1'])
  assert.equal(rest.metadata.resourceVersion, first.metadata.resourceVersion)
})

const counts: readonly (readonly [string, number, number])[] = [
  ['count=true', 0, 4],
  ['count=true&labelSelector=tier%3Dweb', 0, 3],
  ['count=true&labelSelector=tier%3Dweb&limit=1', 1, 2],
  ['count=true&labelSelector=tier%3Dnone&limit=1', 0, 0],
  ['count=true&limit=4', 4, 0],
  ['count=true&sort=metadata.name&limit=3', 3, 1],
  ['count=true&sort=metadata.name', 0, 4],
]
for (const [query, items, remaining] of counts)
  test(`the query ${query} returns ${items} pods and counts ${remaining} more`, async () => {
    const body = await list(query)
    assert.deepEqual([body.items.length, body.metadata.remainingItemCount], [items, remaining])
  })

test('the count and continue parameters together return the number of remaining objects', async () => {
  const page = await list('limit=1&labelSelector=tier%3Dweb')
  const rest = await list(`count=true&labelSelector=tier%3Dweb&continue=${page.metadata.continue}`)
  assert.equal(rest.metadata.remainingItemCount, 2)
})

test('lists of custom kinds support the list extensions', async () => {
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer' }, free: openObject, 'a.b': { type: 'string' } } },
    },
  }
  await client.post('/apis/apiextensions.orch.io/v1/customresourcedefinitions', {
    metadata: { name: 'boxes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'boxes', kind: 'Box' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  const boxes = '/apis/example.com/v1/boxes'
  for (const [name, size] of [
    ['x', 9],
    ['y', 10],
    ['z', -1],
  ] as const)
    await client.post(boxes, {
      apiVersion: 'example.com/v1',
      kind: 'Box',
      metadata: { name },
      spec: { size, free: { [name]: [1] }, 'a.b': name },
    })
  assert.deepEqual(names(await list('sort=spec.size', boxes)), ['z', 'x', 'y'])
  const query = `limit=1&fields=${encodeURIComponent("kind,spec.free.x,spec['a.b']")}`
  assert.deepEqual((await list(query, boxes)).items, [{ kind: 'Box', spec: { 'a.b': 'x', free: { x: [1] } } }])
  assert.equal((await client.get(`${boxes}?fields=spec.color`)).status, 400)
})

test('lists of virtual kinds support the list extensions', async () => {
  const components = '/api/v1/componentstatuses'
  const all = names(await list('', components))
  assert.deepEqual(names(await list('sort=-metadata.name', components)), all.toSorted().reverse())
  assert.equal((await list('count=true', components)).metadata.remainingItemCount, all.length)
  assert.deepEqual((await list('fields=metadata.name', components)).items[0], { metadata: { name: all[0] } })
})

let token = ''
const errors: readonly (readonly [string, () => string, number, RegExp])[] = [
  ['an unknown field', () => 'fields=metadata.nmae', 400, /fields: "metadata\.nmae" is not a field of this kind/],
  ['a field below a string', () => 'fields=metadata.name.first', 400, /is not a field of this kind/],
  ['an inherited field', () => 'fields=constructor', 400, /is not a field of this kind/],
  ['a malformed path', () => 'fields=metadata..name', 400, /is not a valid field path/],
  ['too many fields', () => `fields=${'kind,'.repeat(100)}kind`, 400, /at most 100 paths/],
  ['an unknown sort field', () => 'sort=spec.unknown', 400, /sort: "spec\.unknown" is not a field of this kind/],
  ['a sort by an object', () => 'sort=metadata', 400, /does not have a single value/],
  ['a sort through a list', () => 'sort=spec.containers.name', 400, /does not have a single value/],
  ['four sort fields', () => 'sort=kind,kind,kind,kind', 400, /at most 3 fields/],
  [
    'continue in another order',
    () => `sort=-metadata.name&continue=${token}`,
    400,
    /was started with sort=metadata\.name/,
  ],
  ['continue without the order', () => `continue=${token}`, 400, /cannot be continued without sort/],
  ['fields of a watch', () => 'watch=1&fields=metadata.name', 400, /fields is only supported for lists/],
  ['sort of a watch', () => 'watch=1&sort=metadata.name', 400, /sort is only supported for lists/],
  ['count of a watch', () => 'watch=1&count=true', 400, /count is only supported for lists/],
]
test('a continue token for a sorted list must have been issued by the server', async () => {
  token = (await list('sort=metadata.name&limit=1')).metadata.continue
  assert.ok(token)
})
for (const [what, query, status, message] of errors)
  test(`a list with ${what} is rejected`, async () => {
    const response = await client.get(`${path}?${query()}`)
    assert.equal(response.status, status)
    assert.match(response.body.message, message)
  })

test('a list with the fields parameter is not available as Protobuf or as a table', async () => {
  for (const accept of ['application/vnd.orch.protobuf', 'application/json;as=Table;g=meta.orch.io;v=v1']) {
    const { status } = await client.get(`${path}?fields=metadata.name`, { accept })
    assert.equal(status, 406)
  }
})

test('the list extensions require the list permission', async () => {
  for (const query of ['count=true', 'fields=metadata.name', 'sort=metadata.name'])
    assert.equal((await server.client('alice-token').get(`/api/v1/secrets?${query}`)).status, 403)
})

test('OpenAPI describes the list extensions for lists but not for watches', async () => {
  const { body } = await client.get('/openapi/v3/api/v1')
  const parameters = (at: string) => body.paths[at].get.parameters.map(({ name }: { name: string }) => name)
  const extensions = ['count', 'fields', 'sort']
  assert.deepEqual(
    parameters('/api/v1/pods').filter((name: string) => extensions.includes(name)),
    extensions,
  )
  assert.deepEqual(
    parameters('/api/v1/watch/pods').filter((name: string) => extensions.includes(name)),
    [],
  )
})

test('with --extensions=false, the list extensions are ignored', async (t) => {
  const plain = (await serve(t, ['--extensions=false'])).client('admin-token')
  const namespaces = await plain.get('/api/v1/namespaces?fields=metadata.name&count=true&sort=unknown')
  assert.equal(namespaces.status, 200)
  assert.ok(namespaces.body.items[0].metadata.uid)
  const { body } = await plain.get('/openapi/v3/api/v1')
  assert.ok(!JSON.stringify(body.paths['/api/v1/pods']).includes('"fields"'))
})
