/** Tests that writers of one key are queued in order, up to a limit, and leave the queue when they are aborted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../src/api/model/api-error.ts'
import { KeyedQueue } from '../../../src/apiserver/registry/writes/keyed-queue.ts'

const stays = () => new AbortController().signal

/** Occupies the queue until the returned `end` function is called. */
function hold(turns: KeyedQueue, key: string) {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { end: resolve, ended: turns.take({ key, abandoned: stays }, () => promise) }
}

function refusal(code: number) {
  return (error: unknown) => error instanceof ApiError && error.code === code
}

test('writers of the same key run in order and learn whether they had to wait', async () => {
  const turns = new KeyedQueue()
  const log: string[] = []
  let running = 0
  const write = (name: string) => async (waited: boolean) => {
    assert.equal(++running, 1)
    await new Promise(setImmediate)
    running--
    log.push(`${name} ${waited}`)
  }
  await Promise.all(['a', 'b', 'c'].map((name) => turns.take({ key: 'k', abandoned: stays }, write(name))))
  assert.deepEqual(log, ['a false', 'b true', 'c true'])
  await turns.take({ key: 'k', abandoned: stays }, write('d'))
  assert.equal(log.at(-1), 'd false')
})

test('writers of different keys do not wait for each other', async () => {
  const turns = new KeyedQueue()
  const held = hold(turns, 'a')
  assert.equal(await turns.take({ key: 'b', abandoned: stays }, async (waited) => waited), false)
  held.end()
  await held.ended
})

test('the next writer runs after a failed write', async () => {
  const turns = new KeyedQueue()
  const failing = turns.take({ key: 'k', abandoned: stays }, async () => {
    throw new Error('failed')
  })
  const next = turns.take({ key: 'k', abandoned: stays }, async () => 'next')
  await assert.rejects(failing, /failed/)
  assert.equal(await next, 'next')
})

test('a waiting writer that is aborted leaves the queue immediately and does not block other writers', async () => {
  const turns = new KeyedQueue()
  const held = hold(turns, 'k')
  const client = new AbortController()
  const written: string[] = []
  const leaving = turns.take({ key: 'k', abandoned: () => client.signal }, async () => void written.push('left'))
  const next = turns.take({ key: 'k', abandoned: stays }, async () => 'next')
  client.abort()
  await assert.rejects(leaving, refusal(504))
  await assert.rejects(
    turns.take({ key: 'k', abandoned: () => client.signal }, async () => void written.push('left')),
    refusal(504),
  )
  held.end()
  assert.equal(await next, 'next')
  assert.deepEqual(written, [])
})

test('a full queue rejects further writers until waiting writers leave the queue', async () => {
  const turns = new KeyedQueue()
  const held = hold(turns, 'k')
  const client = new AbortController()
  const many = Array.from({ length: 1000 }, () =>
    turns.take({ key: 'k', abandoned: () => client.signal }, async () => {}),
  )
  await assert.rejects(
    turns.take({ key: 'k', abandoned: stays }, async () => {}),
    refusal(429),
  )
  client.abort()
  for (const outcome of await Promise.allSettled(many)) assert.equal(outcome.status, 'rejected')
  const next = turns.take({ key: 'k', abandoned: stays }, async () => 'next')
  held.end()
  assert.equal(await next, 'next')
})
