/**
 * Tests when TLS handshakes begin: a limited number in each turn of the event loop, and never before the first
 * record.
 */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { HandshakeQueue } from '../../../src/apiserver/transport/handshake-queue.ts'

const record = Buffer.from([22, 3, 1, 0, 4, 1, 2, 3, 4])
const timeoutMs = 10_000

function connection(remoteAddress: string): Socket {
  return Object.assign(new PassThrough(), { remoteAddress }) as unknown as Socket
}

/**
 * Adds connections whose first record has arrived. Returns their addresses, grouped by the turn that began their
 * handshakes.
 */
async function begunTurns(addresses: readonly string[]): Promise<string[][]> {
  const turns: string[][] = []
  let count = 0
  const queue = new HandshakeQueue(({ remoteAddress }) => {
    turns.at(-1)!.push(remoteAddress!)
    count++
  }, timeoutMs)
  for (const address of addresses) {
    const socket = connection(address)
    queue.add(socket)
    socket.write(record)
  }
  while (count < addresses.length) {
    turns.push([])
    await setImmediate()
  }
  return turns.filter(({ length }) => length > 0)
}

test('each event-loop turn starts only a few handshakes, no matter how many clients connect at once', async () => {
  const turns = await begunTurns(Array.from({ length: 40 }, () => '10.0.0.1'))
  // The turn in which the records arrive also starts some handshakes.
  for (const { length } of turns) assert.ok(length <= 8, `${length} handshakes in one turn`)
})

test('client networks take turns when many connections wait for a handshake', async () => {
  const turns = await begunTurns([...Array.from({ length: 40 }, () => '10.0.0.1'), '10.0.0.2', '10.0.0.3'])
  const first = turns.slice(0, 2).flat()
  assert.ok(first.includes('10.0.0.2') && first.includes('10.0.0.3'), JSON.stringify(turns))
})

test('a handshake does not start before the complete first TLS record has arrived', async () => {
  const begun: Socket[] = []
  const queue = new HandshakeQueue((socket) => void begun.push(socket), timeoutMs)
  const socket = connection('10.0.0.1')
  queue.add(socket)
  for (const byte of record) {
    await setTimeout(1)
    assert.equal(begun.length, 0)
    socket.write(Buffer.from([byte]))
  }
  while (begun.length === 0) await setImmediate()
  assert.deepEqual(begun[0]!.read(), record)
})

test('a handshake with a client that does not use TLS starts immediately', async () => {
  const begun: Socket[] = []
  const queue = new HandshakeQueue((socket) => void begun.push(socket), timeoutMs)
  const socket = connection('10.0.0.1')
  queue.add(socket)
  socket.write('G')
  while (begun.length === 0) await setImmediate()
  assert.equal(String(begun[0]!.read()), 'G')
})

test('a client that does not complete its first record in time is disconnected', async () => {
  const queue = new HandshakeQueue(() => assert.fail('no handshake begins'), 20)
  const socket = connection('10.0.0.1')
  queue.add(socket)
  socket.write(record.subarray(0, 6))
  while (!socket.destroyed) await setTimeout(5)
})
