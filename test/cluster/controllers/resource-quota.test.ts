/** Tests the resourcequota loop: limits are applied, usage is counted, and wrong usage is corrected. */

import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { Informer } from '../../../src/client/informers/informer.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { type ResourceQuotaLoopParts, resourceQuotaLoop } from '../../../src/cluster/controllers/resource-quota.ts'
import { serve, serveUp } from '../../support/in-process.ts'

const client = (await serveUp({ after }, ['--resource-quota-sync-period=1s'])).client()
const base = '/api/v1/namespaces/counted'
assert.equal((await client.post('/api/v1/namespaces', { metadata: { name: 'counted' } })).status, 201)
await untilSame(async () => (await client.get(`${base}/serviceaccounts/default`)).status, 200)

const patch = (path: string, body: object) =>
  client.send(path, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body })
const quota = async (name: string) => (await client.get(`${base}/resourcequotas/${name}`)).body

async function untilSame(read: () => Promise<unknown>, expected: unknown): Promise<void> {
  let last: unknown
  for (let attempt = 0; attempt < 600; attempt++) {
    last = await read()
    if (JSON.stringify(last) === JSON.stringify(expected)) return
    await pause(50)
  }
  assert.deepEqual(last, expected)
}

async function make(path: string, body: object): Promise<void> {
  const { status, text } = await client.post(path, body)
  assert.equal(status, 201, text)
}

const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '250m' } } }], ...spec },
})

test('a new quota counts existing objects', async () => {
  for (const name of ['a', 'b', 'ended']) await make(`${base}/pods`, pod(name))
  await make(`${base}/pods`, pod('brief', { activeDeadlineSeconds: 60 }))
  await patch(`${base}/pods/ended/status`, { status: { phase: 'Failed' } })
  await make(`${base}/services`, { metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 1 }] } })
  const claim = {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'gold',
    resources: { requests: { storage: '2Gi' } },
  }
  await make(`${base}/persistentvolumeclaims`, { metadata: { name: 'c' }, spec: claim })
  for (const name of ['m', 'n']) await make(`${base}/secrets`, { metadata: { name } })
  const lease = '/apis/coordination.orch.io/v1/namespaces/counted/leases'
  await make(lease, { metadata: { name: 'l' } })
  const used = {
    'count/leases.coordination.orch.io': '1',
    'count/nothing.example.com': '0',
    'count/pods': '4',
    'count/secrets': '2',
    'gold.storageclass.storage.orch.io/persistentvolumeclaims': '1',
    'limits.cpu': '0',
    pods: '3',
    'requests.cpu': '750m',
    'requests.storage': '2Gi',
    'services.nodeports': '1',
  }
  const hard = Object.fromEntries(Object.keys(used).map((name) => [name, '100']))
  await make(`${base}/resourcequotas`, { metadata: { name: 'all' }, spec: { hard } })
  await untilSame(async () => (await quota('all')).status, { hard, used })
  const scoped = { hard: { pods: '9', 'count/secrets': '9' }, scopes: ['Terminating'] }
  await make(`${base}/resourcequotas`, { metadata: { name: 'scoped' }, spec: scoped })
  await untilSame(async () => (await quota('scoped')).status?.used, { 'count/secrets': '0', pods: '1' })
})

test('changed quota limits are copied to the status, and the counted usage is kept', async () => {
  await make(`${base}/resourcequotas`, { metadata: { name: 'changing' }, spec: { hard: { secrets: '10' } } })
  await untilSame(async () => (await quota('changing')).status, { hard: { secrets: '10' }, used: { secrets: '2' } })
  await patch(`${base}/resourcequotas/changing`, { spec: { hard: { secrets: '5', services: '7' } } })
  await untilSame(async () => (await quota('changing')).status, {
    hard: { secrets: '5', services: '7' },
    used: { secrets: '2', services: '1' },
  })
  await patch(`${base}/resourcequotas/changing`, { spec: { hard: { secrets: null } } })
  await untilSame(async () => (await quota('changing')).status, { hard: { services: '7' }, used: { services: '1' } })
})

test('the recorded quota usage is corrected if it is too high or too low', async () => {
  await make(`${base}/resourcequotas`, { metadata: { name: 'wrong' }, spec: { hard: { secrets: '50' } } })
  for (const secrets of ['49', '0']) {
    await untilSame(async () => (await quota('wrong')).status?.used, { secrets: '2' })
    const answer = await patch(`${base}/resourcequotas/wrong/status`, { status: { used: { secrets } } })
    assert.deepEqual([answer.status, answer.body.status.used], [200, { secrets }])
  }
  await untilSame(async () => (await quota('wrong')).status.used, { secrets: '2' })
})

/** Runs a loop step by step against a server without loops, with a simulated clock. */
async function openLoop(t: TestContext, parts: Partial<ResourceQuotaLoopParts> = {}) {
  const stop = new AbortController()
  t.after(() => stop.abort())
  const server = await serve(t)
  const own = new Client(server.transport())
  const informer = new Informer(own, kinds.ResourceQuota, { onError: () => {} })
  void informer.run(stop.signal)
  await informer.synced
  let now = 0
  const clock = { now: () => Date.now(), monotonic: () => now }
  const vendor = vendorOf('orch')
  const loop = resourceQuotaLoop({ client: own, informer, vendor, clock, quietMs: 1000, ...parts })
  const http = server.client()
  const path = '/api/v1/namespaces/default/resourcequotas/q'
  const read = async () => (await http.get(path)).body
  /** Advances the clock and reconciles the quota once. */
  const look = async (laterMs: number) => {
    now += laterMs
    const { resourceVersion } = (await read()).metadata
    await untilSame(
      async () => informer.get({ namespace: 'default', name: 'q' })?.metadata.resourceVersion,
      resourceVersion,
    )
    const outcome = await loop.reconcile('default/q', stop.signal)
    return [outcome, (await read()).status.used.secrets]
  }
  const use = async (secrets: string) => {
    const headers = { 'content-type': 'application/merge-patch+json' }
    const body = { status: { hard: { secrets: '9' }, used: { secrets } } }
    assert.equal((await http.send(`${path}/status`, { method: 'PATCH', headers, body })).status, 200)
  }
  const spec = { hard: { secrets: '9' } }
  const made = await http.post('/api/v1/namespaces/default/resourcequotas', { metadata: { name: 'q' }, spec })
  assert.equal(made.status, 201)
  return { look, use, http }
}

test('a quota recount that lowers the usage takes effect only if no refunds follow, but a recount that raises the usage takes effect immediately', async (t) => {
  const { look, use, http } = await openLoop(t)
  await use('3')
  assert.deepEqual(await look(0), [{ afterMs: 1000 }, '3'])
  assert.deepEqual(await look(999), [{ afterMs: 1 }, '3'])
  // The count finds no objects. The charged objects may just have been deleted, in which case the server that deleted
  // them refunds the charges.
  assert.deepEqual(await look(1), [{ afterMs: 1000 }, '3'])
  await use('1')
  assert.deepEqual(await look(1000), [{ afterMs: 1000 }, '1'])
  assert.deepEqual(await look(1000), [{ afterMs: 1000 }, '1'])
  assert.deepEqual(await look(999), [{ afterMs: 1 }, '1'])
  assert.deepEqual(await look(1), ['done', '0'])
  assert.equal((await http.post('/api/v1/namespaces/default/secrets', { metadata: { name: 's' } })).status, 201)
  await use('0')
  assert.deepEqual(await look(0), [{ afterMs: 1000 }, '0'])
  assert.deepEqual(await look(1000), ['done', '1'])
})

const still: Partial<ResourceQuotaLoopParts> = {
  quietMs: 10_000,
  whileStill: async (_, run) => await run(() => true),
}

test('a second quota count corrects the usage if objects are deleted during the first count', async (t) => {
  const { look, use } = await openLoop(t, still)
  assert.deepEqual(await look(0), ['done', '0'])
  await use('3')
  assert.deepEqual(await look(600), [{ afterMs: 4400 }, '3'])
  await use('4')
  assert.deepEqual(await look(4400), ['done', '0'])
  // After the second count, the loop counts the quota again only when the quota has not changed for a while.
  await use('2')
  assert.deepEqual(await look(0), [{ afterMs: 10_000 }, '2'])
})

test('a restarted quota loop corrects wrong usage that the previous loop left behind', async (t) => {
  const { look, use } = await openLoop(t, still)
  await use('3')
  assert.deepEqual(await look(0), [{ afterMs: 5000 }, '3'])
  await use('4')
  assert.deepEqual(await look(5000), ['done', '0'])
})

test('wrong quota usage after a crash is corrected even during constant writes to the namespace', async () => {
  await make(`${base}/resourcequotas`, { metadata: { name: 'busy' }, spec: { hard: { configmaps: '500' } } })
  await untilSame(async () => Object.keys((await quota('busy')).status?.used ?? {}), ['configmaps'])
  let remaining = 0
  let running = true
  const writing = (async () => {
    for (let i = 0; running; i++) {
      await make(`${base}/configmaps`, { metadata: { name: `busy-${i}` } })
      if (i % 3 === 0) await client.delete(`${base}/configmaps/busy-${i}`)
      else remaining++
      await pause(20)
    }
  })()
  const { used } = (await quota('busy')).status
  // Simulates a server that was killed after charging.
  const leaked = { configmaps: String(Number(used.configmaps) + 300) }
  assert.equal((await patch(`${base}/resourcequotas/busy/status`, { status: { used: leaked } })).status, 200)
  const began = Date.now()
  while (Number((await quota('busy')).status.used.configmaps) > 250 && Date.now() - began < 60_000) await pause(100)
  running = false
  await writing
  const there = (await client.get(`${base}/configmaps`)).body.items.length
  assert.ok(remaining < 250, `${remaining} made in ${Date.now() - began} ms`)
  assert.equal(Number((await quota('busy')).status.used.configmaps), there)
})

test('containers in the default namespace request 100m of CPU unless the LimitRange is disabled', async (t) => {
  await untilSame(async () => (await client.get('/api/v1/namespaces/default/serviceaccounts/default')).status, 200)
  const limits = (await client.get('/api/v1/namespaces/default/limitranges/limits')).body.spec.limits
  assert.deepEqual(limits, [{ type: 'Container', defaultRequest: { cpu: '100m' } }])
  const plain = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const { body } = await client.post('/api/v1/namespaces/default/pods', plain)
  assert.deepEqual(body.spec.containers[0].resources, { requests: { cpu: '100m' } })
  const without = (await serveUp(t, ['--default-limit-range=false'])).client()
  assert.equal((await without.get('/api/v1/namespaces/default/limitranges')).body.items.length, 0)
})
