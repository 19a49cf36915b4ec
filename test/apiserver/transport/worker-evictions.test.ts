/**
 * Tests evicting unauthenticated connections across workers. Two workers run in this thread. They share counters and a
 * channel, as workers in separate threads do.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ConnectionCounts, countingMemory } from '../../../src/apiserver/transport/connection-counts.ts'
import {
  connectionKey,
  UnauthenticatedConnections,
} from '../../../src/apiserver/transport/unauthenticated-connections.ts'
import { WorkerEvictions } from '../../../src/apiserver/transport/worker-evictions.ts'

const limits = { total: 100, perAddress: 100, minTime: Number.POSITIVE_INFINITY }
const maxWaiting = 4

/** A worker that does not listen on a port. */
interface TestWorker {
  readonly counts: ConnectionCounts
  readonly strangers: UnauthenticatedConnections
  readonly evictions: WorkerEvictions
  connect(remoteAddress: string): Socket
  makeRoom(socket: Socket): boolean
}

function startWorkers(t: TestContext, count: number, answerMs = 60_000): TestWorker[] {
  const memory = countingMemory(count)
  const channel = randomUUID()
  const workers = Array.from({ length: count }, (_, index) => {
    const counts = new ConnectionCounts({ total: 100, perUser: 100 }, { memory, index })
    const strangers = new UnauthenticatedConnections(limits, counts)
    const evict = (remoteAddress: string) => strangers.evictFor(remoteAddress)
    const evictions = new WorkerEvictions({ channel, index, answerMs }, maxWaiting, evict)
    const connect = (remoteAddress: string) => {
      const socket = socketFrom(remoteAddress)
      assert.equal(strangers.admit(socket), 'admitted')
      return socket
    }
    const makeRoom = (socket: Socket) => evictions.makeRoom(socket, counts.otherWorkersWithStrangers())
    return { counts, strangers, evictions, connect, makeRoom }
  })
  t.after(() => {
    for (const { evictions } of workers) evictions.close()
  })
  return workers
}

let lastPort = 0

function socketFrom(remoteAddress: string): Socket {
  return socketWith({ remoteAddress, remotePort: ++lastPort })
}

/** Returns an unconnected socket with these addresses. */
function socketWith(addresses: { readonly [name: string]: string | number }): Socket {
  const values = Object.entries(addresses).map(([name, value]) => [name, { value }] as const)
  return Object.defineProperties(new Socket(), Object.fromEntries(values))
}

test('another worker evicts the oldest connection of the network with the most connections', async (t) => {
  const [one, other] = startWorkers(t, 2)
  const single = other!.connect('10.0.0.1')
  const [oldest, newest] = [other!.connect('10.0.0.2'), other!.connect('10.0.0.2')]
  const socket = one!.connect('10.0.0.3')
  assert.equal(one!.makeRoom(socket), true)
  await once(oldest!, 'close')
  assert.deepEqual(
    [single, newest, socket].map((each) => each!.destroyed),
    [false, false, false],
  )
})

test('the connections of a network are counted across all workers', async (t) => {
  const [one, other] = startWorkers(t, 2)
  const own = one!.connect('10.0.0.2')
  const remote = other!.connect('10.0.0.2')
  // Neither worker alone has two connections from this network.
  const socket = one!.connect('10.0.0.3')
  assert.equal(one!.strangers.evictFor('10.0.0.3'), true)
  await once(own, 'close')
  assert.equal(remote.destroyed, false)
  // Both networks now have one connection each, so neither network may open another connection.
  const next = one!.connect('10.0.0.3')
  assert.equal(one!.strangers.evictFor('10.0.0.3'), false)
  assert.equal(one!.makeRoom(next), true)
  await once(next, 'close')
  assert.deepEqual([remote.destroyed, socket.destroyed], [false, false])
})

test('eviction requests are sent to one worker after another until a worker evicts a connection', async (t) => {
  const [one, two, three] = startWorkers(t, 3)
  // The second worker has the most connections, but may not evict any of them.
  const spread = ['10.0.1.1', '10.0.1.2', '10.0.1.3'].map((address) => two!.connect(address))
  const pair = ['10.0.0.2', '10.0.0.2'].map((address) => three!.connect(address))
  assert.deepEqual(one!.counts.otherWorkersWithStrangers(), [1, 2])
  const socket = one!.connect('10.0.0.3')
  assert.equal(one!.makeRoom(socket), true)
  await once(pair[0]!, 'close')
  assert.deepEqual(
    [...spread, pair[1]!, socket].filter(({ destroyed }) => destroyed),
    [],
  )
})

test('a new connection is closed if the other worker does not answer the eviction request', async (t) => {
  const [one, other] = startWorkers(t, 2, 1)
  for (let i = 0; i < 3; i++) other!.connect('10.0.0.2')
  other!.evictions.close()
  const socket = one!.connect('10.0.0.3')
  assert.equal(one!.makeRoom(socket), true)
  await once(socket, 'close')
})

test('no eviction request is sent if no other worker has unauthenticated connections', async (t) => {
  const [one, other] = startWorkers(t, 2)
  const gone = other!.connect('10.0.0.2')
  gone.destroy()
  await once(gone, 'close')
  assert.equal(one!.makeRoom(one!.connect('10.0.0.3')), false)
})

test('only a few connections can wait for an eviction, and they cannot all be from one network', async (t) => {
  const [one, other] = startWorkers(t, 2)
  other!.connect('10.0.0.2')
  other!.evictions.close()
  const waiting = Array.from({ length: maxWaiting }, () => one!.connect('10.0.0.3'))
  assert.ok(waiting.every((socket) => one!.makeRoom(socket)))
  assert.equal(one!.makeRoom(one!.connect('10.0.0.3')), false)
  assert.equal(one!.makeRoom(one!.connect('10.0.0.4')), true)
  assert.deepEqual(
    waiting.map(({ destroyed }) => destroyed),
    [true, false, false, false],
  )
})

test('two connections from the same client port to different server addresses are counted separately', async (t) => {
  const [one, other] = startWorkers(t, 2)
  const [first, second] = ['10.0.0.8', '10.0.0.9'].map((localAddress) =>
    socketWith({ remoteAddress: '10.0.0.2', remotePort: 1, localAddress, localPort: 6443 }),
  )
  for (const socket of [first!, second!]) assert.equal(other!.strangers.admit(socket), 'admitted')
  // A user who is authenticated on one connection is not authenticated on the other.
  other!.strangers.knows(connectionKey(first!))
  assert.equal(other!.strangers.find(first!), undefined)
  assert.ok(other!.strangers.find(second!) === second)
  assert.deepEqual(one!.counts.otherWorkersWithStrangers(), [1])
})
