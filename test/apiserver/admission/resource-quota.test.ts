/**
 * Tests ResourceQuota: usage is charged before an object is stored, refunded if the write fails or the object is
 * deleted, and never exceeds the limit.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'
import { startFailing } from '../../support/start-failing.ts'

const server = await serve({ after })
const client = server.client()
const patchOf = (body: object) => ({
  method: 'PATCH',
  headers: { 'content-type': 'application/merge-patch+json' },
  body,
})

let createdCount = 0

/** Creates a namespace with quotas whose status is set as the control loop would set it. */
async function limited(...quotas: { name?: string; hard: object; spec?: object; used?: object }[]) {
  const namespace = `quota-${createdCount++}`
  assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: namespace } })).status, 201)
  await giveAccount(client, namespace)
  const base = `/api/v1/namespaces/${namespace}`
  for (const { name = 'q', hard, spec = {}, used } of quotas) {
    const sent = { metadata: { name }, spec: { hard, ...spec } }
    assert.equal((await client.post(`${base}/resourcequotas`, sent)).status, 201)
    const status = { hard, used: used ?? Object.fromEntries(Object.keys(hard).map((each) => [each, '0'])) }
    assert.equal((await client.send(`${base}/resourcequotas/${name}/status`, patchOf({ status }))).status, 200)
  }
  const used = async (name = 'q') => (await client.get(`${base}/resourcequotas/${name}`)).body.status.used
  return { base, used, namespace }
}

const map = (name: string, more: object = {}) => ({ metadata: { name, ...more } })

test('the usage charged for a failed write is refunded', async () => {
  const { base, used } = await limited({ hard: { configmaps: '5', 'count/configmaps': '5' } })
  const maps = `${base}/configmaps`
  assert.equal((await client.post(maps, map('a'))).status, 201)
  assert.equal((await client.post(maps, map('a'))).status, 409)
  assert.equal((await client.post(maps, { ...map('b'), data: { 'no good': '' } })).status, 422)
  assert.equal((await client.post(`${maps}?dryRun=All`, map('b'))).status, 201)
  assert.deepEqual(await used(), { configmaps: '1', 'count/configmaps': '1' })
})

test('completed writes leave no quota charges with an unknown outcome, and a recount cancels such charges after a crash', async () => {
  const { base, namespace, used } = await limited({ hard: { configmaps: '5' } })
  const maps = `${base}/configmaps`
  const owed = async () => (await server.store.list({ prefix: `quota-debts/${namespace}/` })).entries.length
  await Promise.all(['a', 'b', 'c', 'a'].map((name) => client.post(maps, map(name))))
  await client.delete(`${maps}/c`)
  assert.deepEqual([await used(), await owed()], [{ configmaps: '2' }, 0])
  const { uid } = (await client.get(`${base}/resourcequotas/q`)).body.metadata
  const value = Buffer.from(JSON.stringify({ quota: uid, change: { configmaps: '-1' } }))
  await server.store.commit({ key: `quota-debts/${namespace}/q/left`, expected: 0, value })
  const status = (configmaps: string) =>
    client.send(`${base}/resourcequotas/q/status`, patchOf({ status: { used: { configmaps } } }))
  assert.equal((await status('2')).status, 200)
  assert.equal(await owed(), 1, 'it says nothing new')
  assert.equal((await status('1')).status, 200)
  assert.deepEqual([await used(), await owed()], [{ configmaps: '1' }, 0])
})

test('a deletion refunds quota usage immediately, after the last finalizer or as part of deletecollection', async () => {
  const { base, used } = await limited({ hard: { configmaps: '3' } })
  const maps = `${base}/configmaps`
  await client.post(maps, map('a'))
  await client.post(maps, map('held', { finalizers: ['example.com/hold'] }))
  await client.post(maps, map('c'))
  assert.equal((await client.post(maps, map('d'))).status, 403)
  assert.equal((await client.delete(`${maps}/a?dryRun=All`)).status, 200)
  assert.deepEqual(await used(), { configmaps: '3' })
  assert.equal((await client.delete(`${maps}/a`)).status, 200)
  assert.deepEqual(await used(), { configmaps: '2' })
  await client.delete(`${maps}/held`)
  assert.deepEqual(await used(), { configmaps: '2' })
  assert.equal((await client.send(`${maps}/held`, patchOf({ metadata: { finalizers: null } }))).status, 200)
  assert.deepEqual(await used(), { configmaps: '1' })
  await client.post(maps, map('d'))
  assert.equal((await client.delete(maps)).status, 200)
  assert.deepEqual(await used(), { configmaps: '0' })
})

test('quotas that limit the number of quotas can be deleted one by one, concurrently or as a collection', async () => {
  const hard = { resourcequotas: '9', 'count/resourcequotas': '9' }
  const { base, namespace } = await limited(...['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, hard })))
  const quotas = `${base}/resourcequotas`
  const finalizers = (names: string[]) => client.send(`${quotas}/d`, patchOf({ metadata: { finalizers: names } }))
  assert.equal((await client.delete(`${quotas}/a`)).status, 200)
  const both = await Promise.all(['b', 'c'].map((name) => client.delete(`${quotas}/${name}`)))
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  )
  assert.equal((await finalizers(['example.com/hold'])).status, 200)
  assert.equal((await client.delete(`${quotas}/d`)).status, 200)
  assert.equal((await finalizers([])).status, 200)
  assert.equal((await client.delete(quotas)).status, 200)
  assert.deepEqual((await client.get(quotas)).body.items, [])
  assert.deepEqual((await server.store.list({ prefix: `quota-debts/${namespace}/` })).entries, [])
})

test('the usage of an evicted pod is refunded when the pod is removed', async () => {
  const { base, used } = await limited({ hard: { pods: '2', 'requests.cpu': '2' } })
  const evict = (name: string, query = '') =>
    client.post(`${base}/pods/${name}/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      ...map(name),
      deleteOptions: { gracePeriodSeconds: 5 },
    })
  assert.equal((await client.post(`${base}/pods`, pod('waiting', '1'))).status, 201)
  assert.equal((await client.post(`${base}/pods`, pod('running', '1', { nodeName: 'n' }))).status, 201)
  assert.equal((await evict('waiting', '?dryRun=All')).status, 201)
  assert.deepEqual(await used(), { pods: '2', 'requests.cpu': '2' })
  for (const name of ['waiting', 'running']) assert.equal((await evict(name)).status, 201)
  assert.deepEqual(await used(), { pods: '1', 'requests.cpu': '1' })
  assert.equal((await client.delete(`${base}/pods/running?gracePeriodSeconds=0`)).status, 200)
  assert.deepEqual(await used(), { pods: '0', 'requests.cpu': '0' })
})

test('if one of several quotas rejects a charge, no quota is charged', async () => {
  const { base, used } = await limited({ name: 'a', hard: { secrets: '9' } }, { name: 'b', hard: { secrets: '1' } })
  assert.equal((await client.post(`${base}/secrets`, map('x'))).status, 201)
  const answers = await Promise.all(['y', 'z'].map((name) => client.post(`${base}/secrets`, map(name))))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403],
  )
  assert.match(answers[0]!.body.message, /exceeded quota: b, requested: secrets=1, used: secrets=1, limited: secrets=1/)
  assert.deepEqual([await used('a'), await used('b')], [{ secrets: '1' }, { secrets: '1' }])
})

const pod = (name: string, cpu: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }], ...spec },
})

test('a terminated pod uses no compute resources of a quota but counts as an object', async () => {
  const { base, used } = await limited({ hard: { pods: '1', 'requests.cpu': '1', 'count/pods': '2' } })
  assert.equal((await client.post(`${base}/pods`, pod('a', '600m'))).status, 201)
  assert.equal((await client.post(`${base}/pods`, pod('b', '600m'))).status, 403)
  assert.equal((await client.send(`${base}/pods/a/status`, patchOf({ status: { phase: 'Succeeded' } }))).status, 200)
  assert.deepEqual(await used(), { pods: '0', 'requests.cpu': '0', 'count/pods': '1' })
  assert.equal((await client.post(`${base}/pods`, pod('b', '600m'))).status, 201)
  assert.equal((await client.delete(`${base}/pods/a?gracePeriodSeconds=0`)).status, 200)
  assert.deepEqual(await used(), { pods: '1', 'requests.cpu': '600m', 'count/pods': '1' })
})

test('a quota charges overhead, huge pages and extended resources as requests', async () => {
  const hard = { 'requests.cpu': '10', 'requests.example.com/gpu': '2', 'hugepages-2Mi': '8Mi', 'limits.memory': '1Gi' }
  const { base, used } = await limited({ hard })
  const limits = { cpu: '1', memory: '1Mi', 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' }
  const sent = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', resources: { limits } }] } }
  assert.equal((await client.post(`${base}/pods`, sent)).status, 201)
  const expected = {
    'requests.cpu': '1',
    'requests.example.com/gpu': '2',
    'hugepages-2Mi': '4Mi',
    'limits.memory': '1Mi',
  }
  assert.deepEqual(await used(), expected)
})

test('an update that moves a pod to another quota scope moves the charge', async () => {
  const { base, used } = await limited(
    { name: 'long', hard: { pods: '5' }, spec: { scopes: ['NotTerminating'] } },
    { name: 'short', hard: { pods: '1' }, spec: { scopes: ['Terminating'] } },
  )
  for (const name of ['a', 'b']) assert.equal((await client.post(`${base}/pods`, pod(name, '1m'))).status, 201)
  const end = (name: string) => client.send(`${base}/pods/${name}`, patchOf({ spec: { activeDeadlineSeconds: 60 } }))
  assert.equal((await end('a')).status, 200)
  assert.deepEqual([await used('long'), await used('short')], [{ pods: '1' }, { pods: '1' }])
  assert.equal((await end('b')).status, 403)
  assert.deepEqual([await used('long'), await used('short')], [{ pods: '1' }, { pods: '1' }])
})

for (const [what, requirement, spec, counted] of [
  ['NotIn', { scopeName: 'PriorityClass', operator: 'NotIn', values: ['other'] }, {}, true],
  ['DoesNotExist', { scopeName: 'PriorityClass', operator: 'DoesNotExist' }, {}, true],
  ['In', { scopeName: 'PriorityClass', operator: 'In', values: ['other'] }, {}, false],
  ['Exists', { scopeName: 'PriorityClass', operator: 'Exists' }, { priorityClassName: 'system-node-critical' }, true],
  [
    'affinity in the same namespace',
    { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
    neighbours({}),
    false,
  ],
  [
    'affinity to other namespaces',
    { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
    neighbours({ namespaces: ['other'] }),
    true,
  ],
  [
    'affinity to all namespaces',
    { scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' },
    neighbours({ namespaceSelector: {} }),
    true,
  ],
] as const)
  test(`a quota with a scope selector counts the matching pods: ${what}`, async () => {
    const { base, used } = await limited({
      hard: { pods: '1' },
      spec: { scopeSelector: { matchExpressions: [requirement] } },
    })
    const { status, text } = await client.post(`${base}/pods`, pod('p', '1m', spec))
    assert.equal(status, 201, text)
    assert.deepEqual(await used(), { pods: counted ? '1' : '0' })
  })

function neighbours(term: object): object {
  const terms = [{ topologyKey: 'zone', labelSelector: {}, ...term }]
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }
}

test('growing a claim charges only the difference, including to quotas for the storage class', async () => {
  const gold = 'gold.storageclass.storage.orch.io/requests.storage'
  const { base, used } = await limited({ hard: { 'requests.storage': '10Gi', [gold]: '4Gi' } })
  await client.post('/apis/storage.orch.io/v1/storageclasses', {
    metadata: { name: 'gold' },
    provisioner: 'p',
    allowVolumeExpansion: true,
  })
  const claim = {
    metadata: { name: 'c' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'gold',
      resources: { requests: { storage: '1Gi' } },
    },
  }
  const path = `${base}/persistentvolumeclaims`
  assert.equal((await client.post(path, claim)).status, 201)
  await client.send(`${path}/c/status`, patchOf({ status: { phase: 'Bound' } }))
  const grow = (storage: string) =>
    client.send(`${path}/c`, patchOf({ spec: { resources: { requests: { storage } } } }))
  assert.equal((await grow('3Gi')).status, 200)
  assert.deepEqual(await used(), { 'requests.storage': '3Gi', [gold]: '3Gi' })
  assert.equal((await grow('5Gi')).status, 403)
  assert.deepEqual(await used(), { 'requests.storage': '3Gi', [gold]: '3Gi' })
})

test('a quota counts objects of custom kinds, but not events and reviews', async () => {
  const { base, used, namespace } = await limited({
    hard: {
      'count/widgets.example.com': '1',
      'count/events': '0',
      'count/localsubjectaccessreviews.authorization.orch.io': '0',
    },
  })
  const schema = { openAPIV3Schema: { type: 'object' } }
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const definitions = '/apis/apiextensions.orch.io/v1/customresourcedefinitions'
  await client.post(definitions, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  const path = `/apis/example.com/v1/namespaces/${namespace}/widgets`
  const widget = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } })
  assert.equal((await client.post(path, widget('a'))).status, 201)
  assert.equal((await client.post(path, widget('b'))).status, 403)
  const event = { metadata: { name: 'e' }, involvedObject: { namespace }, reason: 'r' }
  assert.equal((await client.post(`${base}/events`, event)).status, 201)
  const review = { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace } } }
  const reviews = `/apis/authorization.orch.io/v1/namespaces/${namespace}/localsubjectaccessreviews`
  const reviewed = await client.post(reviews, { metadata: { namespace }, ...review })
  assert.equal(reviewed.status, 201, reviewed.text)
  assert.equal((await used())['count/widgets.example.com'], '1')
  const { resourceVersion } = (await client.delete(`${definitions}/widgets.example.com`)).body.metadata
  const stop = new AbortController()
  for await (const { type } of client.watch(`${definitions}?watch=1&resourceVersion=${resourceVersion}`, stop.signal))
    if (type === 'DELETED') break
  stop.abort()
  assert.equal((await used())['count/widgets.example.com'], '0')
})

test('__proto__ is an ordinary resource name in a quota', async () => {
  const { base, used } = await limited({ hard: { configmaps: '2' } })
  const resources = JSON.parse('{"requests": {"cpu": "1", "__proto__": "1"}}')
  const sent = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i', resources }] } }
  assert.equal((await client.post(`${base}/pods`, sent)).status, 422)
  assert.deepEqual(await used(), { configmaps: '0' })
})

describe('limitedResources in the configuration', () => {
  const head =
    'apiVersion: apiserver.config.orch.io/v1\nkind: AdmissionConfiguration\nplugins:\n- name: ResourceQuota\n'
  const kind = 'apiVersion: apiserver.config.orch.io/v1\nkind: ResourceQuotaConfiguration\n'
  const scope = 'scopeName: PriorityClass, operator: In, values: [system-node-critical]'
  const limitedResources = `limitedResources:\n- {resource: configmaps, matchContains: [count/]}\n- {resource: pods, matchScopes: [{${scope}}]}\n`

  test('objects that use limited resources can be created only if a quota covers the resources', async (t) => {
    const file = join(server.directory, 'admission.yaml')
    writeFileSync(join(server.directory, 'quota.yaml'), kind + limitedResources)
    writeFileSync(file, `${head}  path: quota.yaml\n`)
    const strict = (await serve(t, [`--admission-control-config-file=${file}`])).client()
    const base = '/api/v1/namespaces/default'
    await giveAccount(strict)
    const refused = await strict.post(`${base}/configmaps`, map('a'))
    assert.deepEqual(
      [refused.status, refused.body.message],
      [
        403,
        'configmaps "a" is forbidden: insufficient quota to consume: count/configmaps (rejected by the admission plugin ResourceQuota)',
      ],
    )
    assert.equal((await strict.post(`${base}/secrets`, map('a'))).status, 201)
    assert.equal((await strict.post(`${base}/pods`, pod('plain', '1m'))).status, 201)
    const critical = pod('critical', '1m', { priorityClassName: 'system-node-critical' })
    assert.match((await strict.post(`${base}/pods`, critical)).body.message, /insufficient quota to match these scopes/)
    const quotas = [
      { metadata: { name: 'maps' }, spec: { hard: { 'count/configmaps': '1' } } },
      {
        metadata: { name: 'critical' },
        spec: {
          hard: { pods: '1' },
          scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] },
        },
      },
    ]
    for (const quota of quotas) {
      await strict.post(`${base}/resourcequotas`, quota)
      const used = Object.fromEntries(Object.keys(quota.spec.hard).map((name) => [name, '0']))
      const status = { hard: quota.spec.hard, used }
      await strict.send(`${base}/resourcequotas/${quota.metadata.name}/status`, patchOf({ status }))
    }
    assert.equal((await strict.post(`${base}/configmaps`, map('a'))).status, 201)
    assert.equal((await strict.post(`${base}/pods`, critical)).status, 201)
  })

  for (const [what, text, told] of [
    ['an unknown field', `${kind}limited: []\n`, /quota\.yaml: ResourceQuota: unknown field "limited"/],
    ['a wrong kind', 'kind: Pod\napiVersion: v1\n', /quota\.yaml: ResourceQuota: .*kind ResourceQuotaConfiguration/],
    ['a missing resource', `${kind}limitedResources: [{}]\n`, /limitedResources\[0\]\.resource: Required value/],
  ] as const)
    test(`the server does not start with ${what} in the quota configuration, and the error names the fault`, async () => {
      const { code, errors } = await startFailing({ after }, (directory) => {
        writeFileSync(join(directory, 'quota.yaml'), text)
        writeFileSync(join(directory, 'admission.yaml'), `${head}  path: quota.yaml\n`)
        return [`--admission-control-config-file=${join(directory, 'admission.yaml')}`]
      })
      assert.equal(code, 1)
      assert.match(errors, told)
    })
})
