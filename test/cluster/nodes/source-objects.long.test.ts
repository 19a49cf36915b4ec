/** Tests the ConfigMaps and Secrets in volumes: concurrent reads are limited, and outdated data is dropped. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../../src/base/time/clock.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { SourceObjects } from '../../../src/cluster/nodes/volumes/source-objects.ts'
import { heapInUse } from '../../support/heap.ts'
import { type InProcess, startInProcess } from '../../support/in-process.ts'

const mib = 1024 * 1024
const count = 30
const pollMs = 1000
let aheadMs = 0
const clock = { ...systemClock, monotonic: () => performance.now() + aheadMs }

let server: InProcess
let client: Client
let underWay = 0
let most = 0

before(async () => {
  server = await startInProcess()
  const send = server.server.transport({ name: 'admin', uid: '', groups: ['system:masters'], extra: new Map() })
  client = new Client(async (request) => {
    most = Math.max(most, ++underWay)
    try {
      return await send(request)
    } finally {
      underWay--
    }
  })
  const type = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
  for (let i = 0; i < count; i++)
    await client.create(type, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `c${i}`, namespace: 'default' },
      data: { text: String(i).repeat(400_000) },
    })
})
after(() => server.stop())

const name = (i: number) => ({ plural: 'configmaps', namespace: 'default', name: `c${i}` }) as const

test('objects that pods reference are read a few at a time, and are removed from memory when they are outdated', async () => {
  const objects = new SourceObjects(clock, pollMs)
  const before = await heapInUse()
  most = 0
  const read = await Promise.all(
    Array.from({ length: count }, (_, i) => objects.read(name(i), `default/p${i}`, client)),
  )
  assert.equal(read.at(-1)?.get('text')?.length, 800_000)
  assert.ok(most <= 8, `${most} objects were read at the same time`)
  read.length = 0
  const held = (await heapInUse()) - before
  assert.ok(held > 15 * mib, `${held} bytes are held while they can be used`)
  aheadMs += pollMs
  assert.deepEqual(await objects.poll(1), [])
  const left = (await heapInUse()) - before
  assert.ok(left < 5 * mib, `${left} bytes are held when nobody can use them`)
  assert.equal((await objects.read(name(0), 'default/p0', client))?.get('text')?.length, 400_000)
})
