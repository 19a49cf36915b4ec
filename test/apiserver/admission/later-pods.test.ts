/** Tests the admission of pods and claims at a later version: node labels, resizes, limits and quotas. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after }, ['--emulated-version=1.36', '--disable-admission-plugins=ServiceAccount'])
const client = server.client('admin-token')
const strategic = 'application/strategic-merge-patch+json'
const patch = (path: string, body: object) =>
  client.send(path, { method: 'PATCH', headers: { 'content-type': strategic }, body })

const pods = '/api/v1/namespaces/default/pods'
const createPod = (name: string, spec: object = {}, labels?: object) =>
  client.post(pods, { metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec } })
const topology = { 'topology.orch.io/zone': 'z', 'topology.orch.io/region': 'r' }

test('a pod inherits the topology labels of the node', async () => {
  await client.post('/api/v1/nodes', { metadata: { name: 'n', labels: { ...topology, other: 'x' } } })
  const bind = (name: string, kind: string, labels?: object) =>
    client.post(`${pods}/${name}/binding`, { metadata: { name, labels }, target: { kind, name: 'n' } })
  const labelsOf = async (name: string) => (await client.get(`${pods}/${name}`)).body.metadata.labels
  await createPod('bound', {}, { 'topology.orch.io/zone': 'old', a: 'b' })
  assert.equal((await bind('bound', 'Node', { c: 'd' })).status, 201)
  assert.deepEqual(await labelsOf('bound'), { ...topology, a: 'b', c: 'd' })
  await createPod('named', { nodeName: 'n' }, { 'topology.orch.io/zone': 'old' })
  assert.deepEqual(await labelsOf('named'), topology)
  await createPod('elsewhere', { nodeName: 'missing' })
  assert.equal(await labelsOf('elsewhere'), undefined)
})

test('binding a pod clears the nominated node', async () => {
  await createPod('nominated')
  await patch(`${pods}/nominated/status`, { status: { nominatedNodeName: 'n' } })
  await client.post(`${pods}/nominated/binding`, {
    metadata: { name: 'nominated' },
    target: { kind: 'Node', name: 'n' },
  })
  const { spec, status } = (await client.get(`${pods}/nominated`)).body
  assert.deepEqual([spec.nodeName, status.nominatedNodeName], ['n', undefined])
})

test('a pod can be resized only within the allocatable resources of its Linux node', async () => {
  const addNode = async (name: string, os: string) => {
    await client.post('/api/v1/nodes', { metadata: { name, labels: { 'orch.io/os': os } } })
    await patch(`/api/v1/nodes/${name}/status`, { status: { allocatable: { cpu: '2', memory: '1Gi' } } })
  }
  await addNode('linux', 'linux')
  await addNode('other', 'windows')
  const resources = (cpu: string) => ({ containers: [{ name: 'c', image: 'i:1', resources: { requests: { cpu } } }] })
  const resize = async (pod: string, cpu: string) => {
    const { status, body } = await patch(`${pods}/${pod}/resize`, { spec: resources(cpu) })
    return [status, body.details?.causes?.[0]?.reason]
  }
  for (const [pod, nodeName] of [
    ['small', 'linux'],
    ['foreign', 'other'],
    ['lost', 'missing'],
  ] as const)
    assert.equal((await createPod(pod, { nodeName, ...resources('1') })).status, 201)
  await createPod('free', resources('1'))
  assert.deepEqual(await resize('small', '2'), [200, undefined])
  assert.deepEqual(await resize('small', '2001m'), [403, 'NodeCapacity'])
  assert.deepEqual(await resize('foreign', '1'), [200, undefined])
  assert.deepEqual(await resize('foreign', '1500m'), [403, 'UnsupportedPlatform'])
  assert.deepEqual(await resize('lost', '1500m'), [403, undefined])
  assert.deepEqual(await resize('free', '64'), [200, undefined])
})

const makeNamespace = async (name: string) => {
  await client.post('/api/v1/namespaces', { metadata: { name } })
  return `/api/v1/namespaces/${name}`
}

async function limit(place: string, spec: { hard: object }): Promise<() => Promise<object>> {
  await client.post(`${place}/resourcequotas`, { metadata: { name: 'q' }, spec })
  const used = Object.fromEntries(Object.keys(spec.hard).map((name) => [name, '0']))
  await patch(`${place}/resourcequotas/q/status`, { status: { hard: spec.hard, used } })
  return async () => (await client.get(`${place}/resourcequotas/q`)).body.status.used
}

test('a quota counts the requested devices per device class', async () => {
  const place = await makeNamespace('devices')
  const devices = (name: string) => `${name}.deviceclass.resource.orch.io/devices`
  const usage = await limit(place, { hard: { [devices('gpu')]: '40', [devices('net')]: '2' } })
  const claim = async (name: string, ...requests: object[]) => {
    const path = place.replace('/api/v1', '/apis/resource.orch.io/v1')
    const named = requests.map((request, i) => ({ name: `r${i}`, ...request }))
    return (await client.post(`${path}/resourceclaims`, { metadata: { name }, spec: { devices: { requests: named } } }))
      .status
  }
  const exact = (deviceClassName: string, count: number) => ({ exactly: { deviceClassName, count } })
  const alternatives = [1, 2].map((count) => ({ name: `s${count}`, deviceClassName: 'net', count }))
  assert.equal(await claim('a', exact('gpu', 3), exact('gpu', 4)), 201)
  assert.equal(await claim('b', { exactly: { deviceClassName: 'gpu', allocationMode: 'All' } }), 201)
  assert.equal(await claim('c', { firstAvailable: alternatives }), 201)
  assert.equal(await claim('d', exact('gpu', 2)), 403)
  assert.equal(await claim('e', exact('net', 1)), 403)
  assert.deepEqual(await usage(), { [devices('gpu')]: '39', [devices('net')]: '2' })
})

test('a quota with the VolumeAttributesClass scope counts the claims that use the class', async () => {
  const place = await makeNamespace('classes')
  const gold = [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }]
  const hard = { persistentvolumeclaims: '1', 'requests.storage': '9Gi' }
  const usage = await limit(place, { hard, scopeSelector: { matchExpressions: gold } } as { hard: object })
  const claim = async (name: string, volumeAttributesClassName: string | undefined) => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    const body = { metadata: { name }, spec: { ...spec, volumeAttributesClassName } }
    return (await client.post(`${place}/persistentvolumeclaims`, body)).status
  }
  assert.deepEqual(
    [await claim('a', 'gold'), await claim('b', 'silver'), await claim('c', undefined), await claim('d', 'gold')],
    [201, 201, 201, 403],
  )
  assert.deepEqual(await usage(), { persistentvolumeclaims: '1', 'requests.storage': '1Gi' })
  const refused = await client.post(`${place}/resourcequotas`, {
    metadata: { name: 'r' },
    spec: { hard: { pods: '1' }, scopeSelector: { matchExpressions: gold } },
  })
  assert.deepEqual(
    refused.body.details.causes.map(({ field }: { field: string }) => field),
    ['spec.scopeSelector.matchExpressions'],
  )
})

test('a quota does not require container resources if the pod specifies pod-level resources', async () => {
  const place = await makeNamespace('pod-level')
  await limit(place, { hard: { 'requests.cpu': '2', 'limits.cpu': '4' } })
  const create = async (name: string, resources?: object) => {
    const spec = { containers: [{ name: 'c', image: 'i:1' }], resources }
    return (await client.post(`${place}/pods`, { metadata: { name }, spec })).status
  }
  assert.equal(await create('a', { requests: { cpu: '1' }, limits: { cpu: '2' } }), 201)
  assert.equal(await create('b', { requests: { cpu: '1500m' }, limits: { cpu: '2' } }), 403)
  assert.equal(await create('c'), 403)
})

test('a pod-level limit also applies to containers that specify a limit', async () => {
  const place = await makeNamespace('limits')
  await client.post(`${place}/limitranges`, {
    metadata: { name: 'l' },
    spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] },
  })
  const create = async (name: string, ...limits: (string | undefined)[]) => {
    const containers = limits.map((cpu, i) => ({
      name: `c${i}`,
      image: 'i:1',
      resources: cpu ? { limits: { cpu } } : {},
    }))
    return (await client.post(`${place}/pods`, { metadata: { name }, spec: { containers } })).status
  }
  assert.deepEqual(
    [await create('a', '500m', undefined), await create('b', '600m', '500m'), await create('c', undefined)],
    [201, 403, 403],
  )
})

test('a pod status with a non-canonical IP address causes a warning', async () => {
  await createPod('addressed')
  const answer = await patch(`${pods}/addressed/status`, {
    status: { podIPs: [{ ip: 'fd00:0::1' }], podIP: 'fd00:0::1' },
  })
  assert.equal(answer.status, 200)
  assert.match(`${answer.headers.warning}`, /status\.podIPs\[0\]\.ip/)
})

test('the status and scale subresources of workloads support tables', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
  const spec = { replicas: 3, selector: { matchLabels: { a: 'b' } }, template }
  await client.post(deployments, { metadata: { name: 'd' }, spec })
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' }
  const tableOf = async (subresource: string) => {
    const { body } = await client.send(`${deployments}/d/${subresource}`, { headers })
    const names = body.columnDefinitions.map(({ name }: { name: string }) => name)
    return [names.slice(0, 4), body.rows[0].cells.slice(0, 3)]
  }
  assert.deepEqual(await tableOf('scale'), [
    ['Name', 'Desired', 'Available', 'Age'],
    ['d', 3, 0],
  ])
  assert.deepEqual(await tableOf('status'), [
    ['Name', 'Ready', 'Up-to-date', 'Available'],
    ['d', '0/3', 0],
  ])
})

test('restricting a service account to its own Secrets causes a warning', async () => {
  const annotations = { 'orch.io/enforce-mountable-secrets': 'true' }
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  const first = await client.post(accounts, { metadata: { name: 'strict', annotations } })
  const second = await patch(`${accounts}/strict`, { metadata: { labels: { a: 'b' } } })
  assert.deepEqual([first.headers.warning !== undefined, second.headers.warning], [true, undefined])
})
