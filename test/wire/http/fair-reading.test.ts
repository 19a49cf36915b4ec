/**
 * Tests that a connection whose client keeps sending is read in parts, so that other connections can be read in
 * between.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { readFairly } from '../../../src/wire/http/fair-reading.ts'

const bytes = 8 * 2 ** 20
/** The limit per turn, plus the rest of the read that exceeds the limit. */
const maxPerTurn = 2 * 64 * 1024

const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as { port: number }
after(() => void server.close())

/** Opens a connection whose client has filled the buffers of the kernel. */
async function openFull(): Promise<Socket> {
  const client = connect(port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.end(Buffer.alloc(bytes, 'x'))
  return socket
}

/** Counts the bytes that arrive in each turn of the event loop. */
class TurnCounts {
  readonly #turns = new Map<number, number>()

  add(chunk: Buffer): void {
    const turn = performance.nodeTiming.uvMetricsInfo.loopCount
    this.#turns.set(turn, (this.#turns.get(turn) ?? 0) + chunk.length)
  }

  get total(): number {
    return this.#turns.values().reduce((sum, count) => sum + count, 0)
  }

  get max(): number {
    return Math.max(...this.#turns.values())
  }
}

async function iterate(socket: Socket, counts: TurnCounts): Promise<void> {
  for await (const chunk of socket as AsyncIterable<Buffer>) counts.add(chunk)
}

async function listen(socket: Socket, counts: TurnCounts): Promise<void> {
  socket.on('data', (chunk: Buffer) => counts.add(chunk))
  await once(socket, 'end')
}

for (const [name, read] of Object.entries({ iterate, listen }))
  test(`a connection with a full receive buffer delivers all bytes, a few in each event-loop turn: ${name}`, async () => {
    const socket = await openFull()
    readFairly(socket)
    const counts = new TurnCounts()
    await read(socket, counts)
    assert.equal(counts.total, bytes)
    assert.ok(counts.max <= maxPerTurn, `${counts.max} bytes in one turn`)
  })

test('a paused connection delivers nothing until it is resumed', async () => {
  const socket = await openFull()
  readFairly(socket)
  const counts = new TurnCounts()
  const read = listen(socket, counts)
  while (counts.total < 2 * maxPerTurn) await setImmediate()
  socket.pause()
  const before = counts.total
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  assert.equal(counts.total, before)
  socket.resume()
  await read
  assert.equal(counts.total, bytes)
})

test('while the reader of a connection lags behind, small chunks are joined in order until the end of the data', async () => {
  const client = connect(port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  readFairly(socket)
  const count = 50_000
  // Each TLS record is pushed separately.
  for (let i = 0; i < count; i++) socket.push(Buffer.from([i % 256]))
  client.end('the end')
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  const expected = Buffer.concat([
    Buffer.from(Array.from({ length: count }, (_, i) => i % 256)),
    Buffer.from('the end'),
  ])
  assert.ok(Buffer.concat(chunks).equals(expected))
  assert.ok(chunks.length < 100, `${chunks.length} chunks`)
})

test('the connections of one client share the time of that client in each event-loop turn, and all data arrives', async () => {
  const sockets: Socket[] = []
  for (let i = 0; i < 6; i++) sockets.push(await openFull())
  const turns = new Map<number, number>()
  const totals = sockets.map(() => 0)
  const ends = sockets.map(async (socket, i) => {
    readFairly(socket, () => 'one client')
    socket.on('data', (chunk: Buffer) => {
      const turn = performance.nodeTiming.uvMetricsInfo.loopCount
      turns.set(turn, (turns.get(turn) ?? 0) + 1)
      totals[i]! += chunk.length
      if (turns.size > 50) return
      for (const end = performance.now() + 2; performance.now() < end; );
    })
    await once(socket, 'end')
  })
  await Promise.all(ends)
  assert.deepEqual(
    totals,
    sockets.map(() => bytes),
  )
  // Data that arrived before `readFairly` was called is delivered in the first turn.
  const counts = [...turns.values()].slice(1, 50)
  assert.ok(Math.max(...counts) <= 3, JSON.stringify(counts))
})

test('delivering a lot of data in earlier event-loop turns does not make a connection wait longer', async () => {
  const sockets: Socket[] = []
  for (let i = 0; i < 17; i++) {
    connect(port, '127.0.0.1').on('error', () => {})
    sockets.push(((await once(server, 'connection')) as [Socket])[0])
  }
  let workMs = 0.5
  let count = 0
  for (const socket of sockets) {
    readFairly(socket, () => 'a client with history')
    socket.on('data', () => {
      count++
      for (const end = performance.now() + workMs; performance.now() < end; );
    })
  }
  for (let round = 0; round < 10; round++)
    for (const socket of sockets) {
      socket.push(Buffer.from('x'))
      await setImmediate()
    }
  const [first, ...others] = sockets
  workMs = 5
  first!.push(Buffer.from('x'))
  workMs = 0.5
  for (const socket of others) socket.push(Buffer.from('x'))
  const before = count
  let turns = 0
  for (; count < before + others.length; turns++) await setImmediate()
  for (const socket of sockets) socket.destroy()
  assert.ok(turns <= 8, `${others.length} small requests waited for ${turns} turns`)
})
