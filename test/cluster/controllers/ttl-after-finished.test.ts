/** Tests, with a simulated clock, that finished Jobs are deleted when their TTL has expired. */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { untilTrue } from '../../support/until.ts'

const owner = endOfFile()
let server: LoopServer
let now = Date.parse('2030-01-01T00:00:00Z')
const clock = { now: () => now, monotonic: () => now }
const loops = ['ttl-after-finished', 'garbagecollector']

before(async () => {
  server = await loopServer(owner)
})
afterEach(async () => {
  await server.end()
})

async function makeJob(name: string, ttlSecondsAfterFinished?: number): Promise<void> {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } }
  const spec = { template, ...(ttlSecondsAfterFinished === undefined ? {} : { ttlSecondsAfterFinished }) }
  await server.client.create(kinds.Job, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec,
  } as ApiObject)
}

async function finish(name: string, type = 'Complete', lastTransitionTime = '2030-01-01T00:00:00Z'): Promise<void> {
  const patch = { merge: { status: { conditions: [{ type, status: 'True', lastTransitionTime }] } } }
  await server.client.patch(kinds.Job, { name, namespace: 'default' }, { patch, subresource: 'status' })
}

async function names(): Promise<string[]> {
  const { items } = await server.client.list(kinds.Job, { namespace: 'default' })
  return items.map(({ metadata }) => metadata.name ?? '')
}

test('completed and failed Jobs are deleted after their TTL, and other Jobs remain', async () => {
  await makeJob('complete', 60)
  await makeJob('failed', 60)
  await makeJob('longer', 61)
  await makeJob('kept')
  await makeJob('running', 0)
  await finish('complete')
  await finish('failed', 'Failed')
  await finish('longer')
  await finish('kept')
  await makeJob('at-once', 0)
  await finish('at-once')
  server.run(loops, { clock })
  await untilTrue(async () => !(await names()).includes('at-once'))
  assert.deepEqual(await names(), ['complete', 'failed', 'kept', 'longer', 'running'])
  await server.end()
  now += 60_000
  server.run(loops, { clock })
  await untilTrue(async () => (await names()).length === 3)
  assert.deepEqual(await names(), ['kept', 'longer', 'running'])
})

test('finished Jobs are deleted in the foreground, and the next manager finishes the deletion', async () => {
  await makeJob('begun', 0)
  await finish('begun')
  server.run(['ttl-after-finished'], { clock })
  const isMarked = async () => {
    const { metadata } = await server.client.get(kinds.Job, { name: 'begun', namespace: 'default' })
    return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes('foregroundDeletion') === true
  }
  await untilTrue(isMarked)
  await server.end()
  server.run(loops, { clock })
  await untilTrue(async () => !(await names()).includes('begun'))
})

test('a Job that cannot be deleted does not block the deletion of other Jobs', async () => {
  for (const name of ['broken', 'b', 'c']) {
    await makeJob(name, 0)
    await finish(name)
  }
  server.run(loops, {
    clock,
    through: (send) => async (request) => {
      if (request.method === 'DELETE' && request.path.endsWith('/broken')) throw new Error('refused')
      return await send(request)
    },
  })
  await untilTrue(async () => !(await names()).some((name) => name === 'b' || name === 'c'))
  assert.ok((await names()).includes('broken'))
})
