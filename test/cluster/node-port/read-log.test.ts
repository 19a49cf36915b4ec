/** Tests container logs: which lines a client can select, and which lines are dropped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ContainerLog } from '../../../src/cluster/node-port/container-log.ts'
import { type LogOptions, readLog } from '../../../src/cluster/node-port/read-log.ts'

const all: LogOptions = {
  follow: false,
  timestamps: false,
  tailLines: undefined,
  since: undefined,
  limitBytes: undefined,
}
const never = new AbortController().signal

async function read(log: ContainerLog, options: Partial<LogOptions> = {}): Promise<string> {
  return Buffer.concat(await Array.fromAsync(readLog(log, { ...all, ...options }, never))).toString()
}

function threeLines(): ContainerLog {
  const log = new ContainerLog()
  log.append(1000, 'one\ntwo\n')
  log.append(2000, 'drei ä', 'stderr')
  return log
}

test('log options limit the output by lines, bytes and time', async () => {
  const log = threeLines()
  assert.equal(await read(log), 'one\ntwo\ndrei ä\n')
  assert.equal(await read(log, { tailLines: 2 }), 'two\ndrei ä\n')
  assert.equal(await read(log, { tailLines: 0 }), '')
  assert.equal(await read(log, { tailLines: 9, since: 1500 }), 'drei ä\n')
  assert.equal(await read(log, { since: 2001 }), '')
  assert.equal(await read(log, { limitBytes: 5 }), 'one\nt')
  assert.equal(await read(log, { tailLines: 1, timestamps: true }), '1970-01-01T00:00:02.000000000Z drei ä\n')
})

test('a reader that follows a container log gets later lines until the container ends', async () => {
  const log = threeLines()
  const reading = read(log, { follow: true, tailLines: 0 })
  log.append(3000, 'four')
  await new Promise(setImmediate)
  log.append(3000, 'five')
  log.end()
  log.append(3000, 'after the end')
  assert.equal(await reading, 'four\nfive\n')
})

test('a log reader that disconnects is removed', async () => {
  const log = new ContainerLog()
  const leaving = new AbortController()
  const reading = Array.fromAsync(readLog(log, { ...all, follow: true }, leaving.signal))
  await new Promise(setImmediate)
  leaving.abort()
  assert.deepEqual(await reading, [])
})

test('a container log drops old lines, and a slow reader continues with the remaining lines', async () => {
  const log = new ContainerLog(1000)
  log.append(1, 'first')
  const reading = readLog(log, { ...all, follow: true }, never)
  assert.equal(String((await reading.next()).value), 'first\n')
  for (let i = 0; i < 100; i++) log.append(2, `line ${i}`)
  log.end()
  const { first, end } = log.range
  assert.ok(end === 101 && end - first > 5 && end - first < 20, `${first} to ${end}`)
  const rest = Buffer.concat(await Array.fromAsync(reading)).toString()
  assert.equal(rest.split('\n').length - 1, end - first)
  assert.ok(rest.endsWith('line 99\n'))
})

test('a large container log is read in chunks of limited size', async () => {
  const log = new ContainerLog(10_000_000)
  for (let i = 0; i < 10_000; i++) log.append(i, 'x'.repeat(100))
  const parts = await Array.fromAsync(readLog(log, all, never))
  assert.ok(parts.every(({ length }) => length < 40_000))
  assert.equal(Buffer.concat(parts).length, 1_010_000)
})
