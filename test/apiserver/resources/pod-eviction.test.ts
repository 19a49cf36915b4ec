/**
 * Tests pods/eviction for pods without a disruption budget and for pods with one. The number of evictions never exceeds
 * the number that the budget allows.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { giveAccount } from '../../support/accounts.ts'
import { assertBrief } from '../../support/effort.ts'
import { startEtcd } from '../../support/etcd.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after })
const client = server.client('admin-token')
await giveAccount(client)
const pods = '/api/v1/namespaces/default/pods'
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
const success = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }

/** Creates a pod with the given label and phase on a node. A running pod is also ready. */
async function running(name: string, app: string, phase = 'Running', at: HttpClient = client): Promise<JsonObject> {
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] }
  await at.post(pods, { metadata: { name, labels: { app } }, spec })
  const conditions = [{ type: 'Ready', status: phase === 'Running' ? 'True' : 'False' }]
  return (await patchStatus(at, `${pods}/${name}`, { phase: phase === 'Unready' ? 'Running' : phase, conditions })).body
}

async function budget(name: string, app: string, status: JsonObject, at: HttpClient = client): Promise<void> {
  await at.post(budgets, { metadata: { name }, spec: { selector: { matchLabels: { app } }, maxUnavailable: 1 } })
  await patchStatus(at, `${budgets}/${name}`, { observedGeneration: 1, ...status })
}

async function patchStatus(at: HttpClient, path: string, status: JsonObject): Promise<Answer> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const answer = await at.send(`${path}/status`, { method: 'PATCH', body: { status }, headers })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

function evict(name: string, body: JsonObject = {}, query = '', at: HttpClient = client): Promise<Answer> {
  return at.post(`${pods}/${name}/eviction${query}`, {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name },
    ...body,
  })
}

const isGoing = async (name: string) => {
  const { status, body } = await client.get(`${pods}/${name}`)
  return status === 404 || body.metadata.deletionTimestamp !== undefined
}
const statusOf = async (name: string) => (await client.get(`${budgets}/${name}`)).body.status

test('a pod without a disruption budget is evicted, with either version of the body and with delete options', async () => {
  for (const [name, version] of [
    ['a', 'policy/v1'],
    ['b', 'policy/v1beta1'],
  ] as const) {
    await running(name, 'free')
    const answer = await evict(name, { apiVersion: version, deleteOptions: { gracePeriodSeconds: 7 } })
    assert.deepEqual([answer.status, answer.body], [201, success])
    assert.equal((await client.get(`${pods}/${name}`)).body.metadata.deletionGracePeriodSeconds, 7)
  }
})

test('a dry-run eviction deletes nothing, whether requested in the query or in the delete options', async () => {
  await running('dry', 'dry')
  assert.equal((await evict('dry', {}, '?dryRun=All')).status, 201)
  assert.equal((await evict('dry', { deleteOptions: { dryRun: ['All'] } })).status, 201)
  assert.equal((await evict('dry', { deleteOptions: { dryRun: ['Some'] } })).status, 422)
  assert.equal(await isGoing('dry'), false)
})

test('an invalid Eviction is rejected', async () => {
  await running('odd', 'odd')
  assert.equal((await evict('odd', { metadata: { name: 'other' } })).status, 400)
  assert.equal((await evict('odd', { apiVersion: 'v1', kind: 'Pod' })).status, 400)
  assert.equal((await evict('odd', { apiVersion: 'policy/v2' })).status, 400)
  assert.equal((await evict('odd', { deleteOptions: { dryRun: ['All', null] } })).status, 422)
  assert.equal((await evict('nobody')).status, 404)
  assert.equal((await evict('nobody', { deleteOptions: { propagationPolicy: 'Bad' } })).status, 404)
  assert.equal((await client.get(`${pods}/odd/eviction`)).status, 405)
  assert.equal((await server.client('bob-token').post(`${pods}/odd/eviction`, {})).status, 403)
  assert.equal(await isGoing('odd'), false)
})

test('an eviction charges the disruption budget once per pod, and evictions are rejected when the budget is exhausted', async () => {
  const pod = await running('one', 'charged')
  await running('two', 'charged')
  await budget('charged', 'charged', { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 })
  assert.equal((await evict('one', {}, '?dryRun=All')).status, 201)
  const wrong = await evict('one', { deleteOptions: { preconditions: { uid: 'other' } } })
  assert.deepEqual([wrong.status, wrong.body.details], [409, { name: 'one', kind: 'Pod' }])
  assert.deepEqual([(await statusOf('charged')).disruptionsAllowed, await isGoing('one')], [1, false])
  const { uid } = pod.metadata as { uid: string }
  assert.equal((await evict('one', { deleteOptions: { preconditions: { uid } } })).status, 201)
  const { disruptionsAllowed, disruptedPods, conditions } = await statusOf('charged')
  assert.deepEqual([disruptionsAllowed, Object.keys(disruptedPods)], [0, ['one']])
  assert.deepEqual([conditions[0].type, conditions[0].status], ['DisruptionAllowed', 'False'])
  const refused = await evict('two')
  assert.deepEqual(
    [refused.status, refused.body.reason, refused.headers['retry-after']],
    [429, 'TooManyRequests', undefined],
  )
  assert.deepEqual(refused.body.details.causes, [
    { reason: 'DisruptionBudget', message: 'The disruption budget charged needs 1 healthy pods and has 2 currently' },
  ])
  assert.equal((await evict('two', {}, '?dryRun=All')).status, 429)
  assert.equal(await isGoing('two'), false)
  // The server does not charge the budget, because the pod is already terminating.
  assert.equal((await evict('one')).status, 201)
})

test('evictions are rejected until the controller has observed the latest disruption budget', async () => {
  await running('young', 'young')
  await client.post(budgets, { metadata: { name: 'young' }, spec: { selector: { matchLabels: { app: 'young' } } } })
  const refused = await evict('young')
  assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '10'])
  assert.match(refused.body.details.causes[0].message, /still being processed/)
})

test('evicting pods that are not running and ready does not charge the disruption budget', async () => {
  await budget('strict', 'strict', { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 })
  for (const phase of ['Pending', 'Succeeded', 'Failed', 'Unready']) {
    const name = phase.toLowerCase()
    await running(name, 'strict', phase)
    assert.equal((await evict(name)).status, 201, phase)
    assert.equal(await isGoing(name), true, phase)
  }
  await running('counted', 'strict')
  assert.equal((await evict('counted')).status, 429)
  await patchStatus(client, `${budgets}/strict`, { currentHealthy: 0 })
  await running('needed', 'strict', 'Unready')
  assert.equal((await evict('needed')).status, 429)
})

test('an eviction is rejected if several disruption budgets match the pod, or if too many evictions are unconfirmed', async () => {
  await running('between', 'between')
  for (const name of ['first', 'second']) await budget(name, 'between', { disruptionsAllowed: 5 })
  const refused = await evict('between')
  assert.equal(refused.status, 409)
  assert.match(refused.body.message, /more than one PodDisruptionBudget/)
  await running('crowded', 'crowded')
  const waiting = Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`p${i}`, '2030-01-01T00:00:00Z']))
  await budget('crowded', 'crowded', { disruptionsAllowed: 5, disruptedPods: waiting })
  assert.equal((await evict('crowded')).status, 403)
})

test('concurrent evictions on two servers never exceed the disruption budget', async (t) => {
  const etcd = await startEtcd()
  t.after(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoints.join(',')}`]
  const servers = [await serve(t, flags), await serve(t, flags)]
  const clients = servers.map((each) => each.client('admin-token'))
  await giveAccount(clients[0]!)
  const names = Array.from({ length: 20 }, (_, i) => `many-${i}`)
  for (const name of names) await running(name, 'many', 'Running', clients[0])
  await budget('many', 'many', { disruptionsAllowed: 7, currentHealthy: 20, desiredHealthy: 13 }, clients[0])
  const answers = await Promise.all(names.map((name, i) => evict(name, {}, '', clients[i % 2])))
  const codes = answers.map(({ status }) => status)
  assert.deepEqual([codes.filter((code) => code === 201).length, codes.filter((code) => code === 429).length], [7, 13])
  const { body } = await clients[1]!.get(`${budgets}/many`)
  assert.deepEqual([body.status.disruptionsAllowed, Object.keys(body.status.disruptedPods).length], [0, 7])
  const gone = (await clients[0]!.get(pods)).body.items.filter(
    ({ metadata }: { metadata: JsonObject }) => metadata.deletionTimestamp,
  )
  assert.deepEqual(
    gone.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort(),
    Object.keys(body.status.disruptedPods).sort(),
  )
})

test('since Kubernetes 1.26, evicted pods have a condition, and a budget may allow the eviction of unready pods', async () => {
  const newer = await serve({ after }, ['--emulated-version=1.36'])
  const at = newer.client('admin-token')
  await giveAccount(at)
  const none = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 2, expectedPods: 3 }
  await budget('strict', 'strict', none, at)
  await running('strict', 'strict', 'Unready', at)
  assert.equal((await evict('strict', {}, '', at)).status, 429)
  const change = { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }
  const headers = { 'content-type': 'application/merge-patch+json' }
  await at.send(`${budgets}/strict`, { method: 'PATCH', body: change, headers })
  assert.equal((await evict('strict', {}, '?dryRun=All', at)).status, 201)
  const stored = (await at.get(`${pods}/strict`)).body
  assert.deepEqual(stored.status.conditions.length, 1)
  assert.equal((await evict('strict', {}, '', at)).status, 201)
  const { metadata, status } = (await at.get(`${pods}/strict`)).body
  assert.notEqual(metadata.deletionTimestamp, undefined)
  const { lastTransitionTime: _, ...condition } = status.conditions.at(-1)
  assert.deepEqual(
    [condition.type, condition.status, condition.reason],
    ['DisruptionTarget', 'True', 'EvictionByEvictionAPI'],
  )
})

test('an eviction decodes many wide disruption budgets without blocking other requests', async () => {
  const place = '/apis/policy/v1/namespaces/wide'
  await client.post('/api/v1/namespaces', { metadata: { name: 'wide' } })
  await giveAccount(client, 'wide')
  const pod = '/api/v1/namespaces/wide/pods/p'
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] }
  await client.post('/api/v1/namespaces/wide/pods', { metadata: { name: 'p', labels: { app: 'wide' } }, spec })
  await patchStatus(client, pod, { phase: 'Running' })
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, 'v']))
  // Decoding one of the budgets takes about 15 ms.
  const names = Array.from({ length: 20 }, (_, i) => `wide-${i}`)
  const { result } = await assertBrief(100, async () => {
    for (const name of names) {
      await client.delete(`${place}/poddisruptionbudgets/${name}`)
      const body = { metadata: { name, labels }, spec: { selector: { matchLabels: { app: 'other' } } } }
      assert.equal((await client.post(`${place}/poddisruptionbudgets`, body)).status, 201)
    }
    return await client.post(`${pod}/eviction?dryRun=All`, { metadata: { name: 'p' } })
  })
  assert.equal(result.status, 201, result.text)
})
