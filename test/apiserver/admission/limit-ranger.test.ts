/** Tests that LimitRanger sets defaults and enforces limits. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { giveAccount } from '../../support/accounts.ts'
import { assertBrief } from '../../support/effort.ts'
import { serve } from '../../support/in-process.ts'

const client = (await serve({ after })).client()
let createdCount = 0

async function bounded(...limits: object[]): Promise<string> {
  const namespace = `limits-${createdCount++}`
  await client.post('/api/v1/namespaces', { metadata: { name: namespace } })
  await giveAccount(client, namespace)
  const base = `/api/v1/namespaces/${namespace}`
  const sent = { metadata: { name: 'range' }, spec: { limits } }
  const { status, text } = await client.post(`${base}/limitranges`, sent)
  assert.equal(status, 201, text)
  return base
}

const pod = (resources: object, more: object = {}) => ({
  metadata: { generateName: 'p-' },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...more },
})

test('a LimitRange sets missing container resources, and an annotation lists them', async () => {
  const base = await bounded({ type: 'Container', default: { cpu: '2' }, defaultRequest: { cpu: '1', memory: '1Mi' } })
  const { body } = await client.post(`${base}/pods`, pod({ requests: { memory: '2Mi' } }))
  assert.deepEqual(body.spec.containers[0].resources, {
    limits: { cpu: '2' },
    requests: { cpu: '1', memory: '2Mi' },
  })
  assert.equal(
    body.metadata.annotations['orch.io/limit-ranger'],
    'LimitRanger plugin set: cpu request for container c; cpu limit for container c',
  )
})

const container = { type: 'Container' }
for (const [violation, limits, resources, expected] of [
  ['a value below the minimum', { ...container, min: { cpu: '1' } }, { requests: { cpu: '1m' } }, /but request is 1m/],
  [
    'a value above the maximum',
    { ...container, max: { cpu: '1' } },
    { limits: { cpu: '1001m' } },
    /maximum cpu usage per Container is 1, but limit is 1001m/,
  ],
  [
    'a limit too high relative to the request',
    { ...container, maxLimitRequestRatio: { cpu: '1.5' } },
    { requests: { cpu: '2' }, limits: { cpu: '3001m' } },
    /ratio per Container is 1500m, but provided ratio is 1\.500500/,
  ],
  ['a missing limit', { type: 'Pod', max: { memory: '1Gi' } }, { requests: { memory: '1' } }, /No limit is specified/],
  ['a missing request', { type: 'Pod', min: { memory: '1Gi' } }, {}, /No request is specified/],
] as const)
  test(`${violation} is rejected, and the error names the limit and the LimitRange`, async () => {
    const base = await bounded(limits)
    const { status, body } = await client.post(`${base}/pods`, pod(resources))
    assert.equal(status, 403)
    assert.match(body.message, expected)
    assert.match(body.message, /^pods "p-.*\(LimitRange range\) \(rejected by the admission plugin LimitRanger\)$/)
    assert.equal((await client.get(`${base}/pods`)).body.items.length, 0)
  })

test('LimitRanger checks an updated claim unless the claim is terminating', async () => {
  const base = await bounded({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } })
  const claim = (storage: string) => ({
    metadata: { name: 'c', finalizers: ['example.com/hold'] },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage } } },
  })
  const path = `${base}/persistentvolumeclaims`
  assert.equal((await client.post(path, claim('2Gi'))).status, 403)
  assert.equal((await client.post(path, claim('1Gi'))).status, 201)
  const range = {
    metadata: { name: 'range' },
    spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '1' } }] },
  }
  assert.equal((await client.put(`${base}/limitranges/range`, range)).status, 200)
  const patch = (body: object) =>
    client.send(`${path}/c`, { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body })
  assert.equal((await patch({ metadata: { labels: { a: 'b' } } })).status, 403)
  await client.delete(`${path}/c`)
  assert.equal((await patch({ metadata: { finalizers: null } })).status, 200)
  assert.equal((await client.get(`${path}/c`)).status, 404)
})

test('LimitRanger finds a single violation among very many containers', async () => {
  const base = await bounded({ type: 'Container', max: { cpu: '2' } })
  const send = (last: string) => {
    const containers = Array.from({ length: 2_000 }, (_, i) => ({
      name: `c${i}`,
      image: 'i',
      resources: { limits: { cpu: i < 1_999 ? `${i + 1}m` : last } },
    }))
    return client.post(`${base}/pods?dryRun=All`, pod({}, { containers }))
  }
  assert.equal((await send('2')).status, 201)
  const { status, body } = await send('3')
  assert.equal(status, 403)
  assert.match(body.message, /is forbidden: maximum cpu usage per Container is 2, but limit is 3 \(/)
})

test('a pod is rejected if the annotation that lists its LimitRange defaults would become too long', async () => {
  const names = Array.from({ length: 4000 }, (_, i) => [`example.com/resource-${i}`, '1'])
  const base = await bounded({ type: 'Container', default: Object.fromEntries(names) })
  const containers = Array.from({ length: 300 }, (_, i) => ({ name: `c${i}`, image: 'i' }))
  const { result } = await assertBrief(500, () => client.post(`${base}/pods`, pod({}, { containers })))
  assert.equal(result.status, 422)
  assert.match(result.body.message, /metadata.annotations: Too long: must have at most 262144 bytes/)
})

test('the error for very many LimitRange violations is truncated', async () => {
  const names = Array.from({ length: 6000 }, (_, i) => [`example.com/resource-${i}`, '1'])
  const base = await bounded({ type: 'Container', maxLimitRequestRatio: Object.fromEntries(names) })
  const containers = Array.from({ length: 100 }, (_, i) => ({ name: `c${i}`, image: 'i' }))
  const { result } = await assertBrief(300, () => client.post(`${base}/pods`, pod({}, { containers })))
  assert.equal(result.status, 403)
  assert.equal(result.body.message.match(/no request is specified/g).length, 20)
})
