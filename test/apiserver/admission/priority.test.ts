/** Tests Priority: a pod gets the value of its class, and at most one class is the default. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'

const server = await serve({ after })
const client = server.client()
await giveAccount(client)
const classes = '/apis/scheduling.orch.io/v1/priorityclasses'
const pods = '/api/v1/namespaces/default/pods'

const makeClass = (name: string, fields: object) => client.post(classes, { metadata: { name }, ...fields })
const makePod = (spec: object) =>
  client.post(pods, { metadata: { generateName: 'p-' }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } })

test('the two system PriorityClasses exist and cannot be deleted', async () => {
  const values = async () =>
    (await client.get(classes)).body.items.map(({ value }: { value: number }) => value).sort() as number[]
  assert.deepEqual(await values(), [2_000_000_000, 2_000_001_000])
  assert.equal((await client.delete(`${classes}/system-node-critical`)).status, 403)
  await server.stop()
  await server.restart()
  assert.deepEqual(await values(), [2_000_000_000, 2_000_001_000])
  const { body } = await makePod({ priorityClassName: 'system-node-critical' })
  assert.deepEqual([body.spec.priority, body.spec.preemptionPolicy], [2_000_001_000, 'PreemptLowerPriority'])
})

test('a pod gets the priority of its class, and its own priority field must have the same value', async () => {
  await makeClass('high', { value: 1234, preemptionPolicy: 'Never' })
  for (const [spec, priority, preemptionPolicy] of [
    [{}, 0, 'PreemptLowerPriority'],
    [{ priority: 0 }, 0, 'PreemptLowerPriority'],
    [{ priorityClassName: 'high' }, 1234, 'Never'],
    [{ priorityClassName: 'high', priority: 1234, preemptionPolicy: 'Never' }, 1234, 'Never'],
  ] as const) {
    const { status, body } = await makePod(spec)
    assert.deepEqual([status, body.spec?.priority, body.spec?.preemptionPolicy], [201, priority, preemptionPolicy])
  }
  for (const spec of [
    { priorityClassName: 'none' },
    { priority: 5 },
    { priorityClassName: 'high', priority: 5 },
    { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
  ])
    assert.equal((await makePod(spec)).status, 403, JSON.stringify(spec))
})

test('an update does not change the priority of a pod', async () => {
  await makeClass('brief', { value: 9 })
  const { body } = await makePod({ priorityClassName: 'brief' })
  await client.delete(`${classes}/brief`)
  const { priority: _, preemptionPolicy: __, ...spec } = body.spec
  const path = `${pods}/${body.metadata.name}`
  const written = await client.put(path, { metadata: { name: body.metadata.name }, spec })
  assert.deepEqual([written.status, written.body.spec], [200, body.spec])
  assert.equal((await client.put(path, { ...written.body, spec: { ...body.spec, priority: 1 } })).status, 422)
})

test('at most one PriorityClass can be the global default', async () => {
  assert.equal((await makeClass('usual', { value: 7, globalDefault: true })).status, 201)
  const second = await makeClass('other', { value: 8, globalDefault: true })
  assert.deepEqual([second.status, second.body.details.kind], [403, 'priorityclasses'])
  await makeClass('other', { value: 8 })
  const other = (await client.get(`${classes}/other`)).body
  assert.equal((await client.put(`${classes}/other`, { ...other, globalDefault: true })).status, 403)
  const usual = (await client.get(`${classes}/usual`)).body
  assert.equal((await client.put(`${classes}/usual`, { ...usual, description: 'd' })).status, 200)
  const { spec } = (await makePod({})).body
  assert.deepEqual([spec.priorityClassName, spec.priority], ['usual', 7])
})
