/**
 * Tests the memory limits for responses from other servers: no destination can make calls to another destination fail.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { HttpsCaller } from '../../../src/apiserver/outbound/https-caller.ts'
import { AnswerMemory, type AnswerMemoryLimits } from '../../../src/wire/http/client/answer-memory.ts'
import { answerRaw, flood, floods, type RawAnswers } from '../../support/raw-answers.ts'
import { soon, untilTrue } from '../../support/until.ts'

const mebibyte = 1024 * 1024

function callerWith(limits?: AnswerMemoryLimits): HttpsCaller {
  const caller = new HttpsCaller('test', new AnswerMemory(limits))
  after(() => caller.close())
  return caller
}

/** Returns the size of the response, or the error of the call. */
async function outcome(
  caller: HttpsCaller,
  { destination }: RawAnswers,
  more: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  try {
    const { body } = await caller.post({ destination, path: '/', body: '{}', timeoutMs: 60_000, ...more })
    return body.length
  } catch (error) {
    return (error as { fault: string }).fault
  }
}

const answerOf = (size: number) => (socket: TLSSocket) =>
  void socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size)}`)
/** Sends all of the response except its last byte. */
const unfinished = (size: number) => (socket: TLSSocket) =>
  void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size - 1)}`)

for (const [name, send] of Object.entries(floods))
  test(`a flood of ${name} in a response to an outbound call makes only that call fail`, async () => {
    const caller = callerWith()
    let sent = false
    const hostile = await answerRaw({ after }, async (socket) => {
      // All responses used to share a limit of 64 MiB. This response would have used up most of it.
      await send(socket, 64 * mebibyte - 1000)
      sent = true
    })
    const honest = await answerRaw({ after }, answerOf(1000))
    const attack = outcome(caller, hostile)
    await soon(() => sent)
    for (let i = 0; i < 10; i++) assert.equal(await outcome(caller, honest), 1000)
    assert.equal(await attack, 'answer')
  })

test('unfinished responses from one destination do not exhaust the memory for other destinations', async () => {
  const caller = callerWith()
  const stop = new AbortController()
  let connections = 0
  const hostile = await answerRaw({ after }, (socket) => {
    connections++
    unfinished(5 * mebibyte)(socket)
  })
  const honest = await answerRaw({ after }, answerOf(4 * mebibyte))
  const attacks = Array.from({ length: 20 }, () => outcome(caller, hostile, { signal: stop.signal }))
  await soon(() => connections === 20)
  for (let i = 0; i < 5; i++) assert.equal(await outcome(caller, honest), 4 * mebibyte)
  stop.abort()
  for (const attack of attacks) assert.equal(await attack, 'aborted')
})

test('responses that exceed the memory share of their destination are read one at a time', async () => {
  const limits = { poolBytes: 8 * mebibyte, shareBytes: 2 * mebibyte, reserveBytes: mebibyte / 4 }
  const caller = callerWith(limits)
  const honest = await answerRaw({ after }, answerOf(3 * mebibyte))
  const sizes = await Promise.all(Array.from({ length: 30 }, () => outcome(caller, honest)))
  assert.deepEqual(new Set(sizes), new Set([3 * mebibyte]))
})

test('if the response memory pool is full, large responses fail with a specific error and small responses still succeed', async () => {
  const limits = { poolBytes: mebibyte, shareBytes: mebibyte, reserveBytes: mebibyte / 4 }
  const caller = callerWith(limits)
  const stop = new AbortController()
  const taken: TLSSocket[] = []
  const hostile = await Promise.all(
    [1, 2].map(() =>
      answerRaw({ after }, (socket) => {
        taken.push(socket)
        unfinished(3 * mebibyte)(socket)
      }),
    ),
  )
  const attacks = hostile.map((destination) => outcome(caller, destination, { signal: stop.signal }))
  await soon(() => taken.length === 2)
  const small = await answerRaw({ after }, answerOf(1000))
  const large = await answerRaw({ after }, answerOf(3 * mebibyte))
  // Large responses are read until the pool is full.
  await untilTrue(async () => (await outcome(caller, large, { timeoutMs: 300 })) === 'limit')
  assert.equal(await outcome(caller, small), 1000)
  stop.abort()
  await Promise.all(attacks)
  assert.equal(await outcome(caller, large), 3 * mebibyte)
})

test('if an outbound call times out while it waits for a connection, the error does not blame the destination', async () => {
  const caller = callerWith()
  const stop = new AbortController()
  let connections = 0
  const hanging = await answerRaw({ after }, () => connections++)
  const attacks = Array.from({ length: 64 }, () => outcome(caller, hanging, { signal: stop.signal }))
  await soon(() => connections === 64)
  assert.equal(await outcome(caller, hanging, { timeoutMs: 100 }), 'limit')
  stop.abort()
  await Promise.all(attacks)
  // The connections are closed in a later turn of the event loop.
  await untilTrue(async () => (await outcome(caller, hanging, { timeoutMs: 100 })) === 'timeout')
})

test('only the retained part of a response counts toward the memory limit for outbound calls', async () => {
  const limits = { poolBytes: 0, shareBytes: mebibyte, reserveBytes: 256 * 1024 }
  const caller = callerWith(limits)
  // In chunks of 1,000 bytes with chunk extensions, a body of 210,000 bytes takes nearly twice as many bytes on the
  // wire.
  const honest = await answerRaw({ after }, async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `3e8;${'e'.repeat(900)}\r\n${'x'.repeat(1000)}\r\n`
    await flood(socket, chunk, 210 * chunk.length)
    socket.write('0\r\n\r\n')
  })
  assert.equal(await outcome(caller, honest), 210_000)
})
