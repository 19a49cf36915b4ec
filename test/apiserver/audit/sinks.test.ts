/** Tests audit sinks: file rotation, batches and overload. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Status } from '../../../src/api/model/api-error.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { Batches } from '../../../src/apiserver/audit/batches.ts'
import {
  type AuditEvent,
  AuditedCaller,
  AuditedRequest,
  beginningOf,
  eventOf,
} from '../../../src/apiserver/audit/event.ts'
import { LogSink } from '../../../src/apiserver/audit/log-sink.ts'
import type { Stage } from '../../../src/apiserver/audit/policy.ts'
import { RecentEvents } from '../../../src/apiserver/audit/recent-events.ts'
import { RotatingFile } from '../../../src/apiserver/audit/rotating-file.ts'
import { wallTime } from '../../../src/apiserver/audit/wall-time.ts'
import { WebhookSink } from '../../../src/apiserver/audit/webhook-sink.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import { untilTrue } from '../../support/until.ts'

const event = (text: string, stage: Stage = 'ResponseComplete'): AuditEvent => ({
  text,
  stage,
  shortened: () => text.slice(0, 3),
  isLong: text.length > 1000,
})
const whole = { isEnabled: false, maxEvent: 0, maxBatch: 0 }

class Faults {
  count = 0
  lost(events: number): void {
    this.count += events
  }
}

test('an audit log file is rotated and compressed when it is full, and old files are deleted', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'))
  t.after(() => rmSync(directory, { recursive: true }))
  let now = Date.parse('2026-01-31T10:00:00Z')
  const clock = { now: () => (now += 1000), monotonic: () => 0 }
  writeFileSync(join(directory, 'audit-notes.log'), 'nobody touches this')
  const path = join(directory, 'audit.log')
  const rotation = { maxBytes: 10, maxBackups: 2, maxAgeMs: 0, compress: true }
  const file = new RotatingFile(path, rotation, { clock, onError: assert.ifError })
  await file.open()
  for (const line of ['first\n', 'second\n', 'third\n', 'fourth\n', 'a\n']) await file.append(Buffer.from(line))
  await file.close()
  assert.equal(readFileSync(path, 'utf8'), 'fourth\na\n')
  const kept = readdirSync(directory)
    .filter((name) => name.endsWith('.gz'))
    .sort()
  assert.equal(kept.length, 2)
  for (const name of kept) assert.match(name, /^audit-2026-01-31T10-00-\d\d\.000\.log\.gz$/)
  assert.ok(readdirSync(directory).includes('audit-notes.log'))
  assert.equal(gunzipSync(readFileSync(join(directory, kept[0]!))).toString(), 'second\n')
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('if several workers share an audit log file, one worker rotates the file and no line is lost', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'audit.log')
  const worker = (rotates: boolean) => {
    const rotation = { maxBytes: 100, maxBackups: 0, maxAgeMs: 0, compress: false, shared: { rotates } }
    return new RotatingFile(path, rotation, { clock: systemClock, onError: assert.ifError })
  }
  const first = worker(true)
  const second = worker(false)
  for (let i = 0; i < 40; i++) await (i % 2 === 0 ? first : second).append(Buffer.from(`line ${i}\n`))
  await Promise.all([first.close(), second.close()])
  const names = readdirSync(directory)
  assert.ok(names.length > 2, String(names))
  const lines = names.flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
  assert.deepEqual(new Set(lines), new Set(Array.from({ length: 40 }, (_, i) => `line ${i}`)))
})

test('two rotations of the audit log within a millisecond create two files', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const rotation = { maxBytes: 4, maxBackups: 0, maxAgeMs: 0, compress: false }
  const clock = { now: () => 0, monotonic: () => 0 }
  const file = new RotatingFile(join(directory, 'audit.log'), rotation, { clock, onError: assert.ifError })
  for (const line of ['one\n', 'two\n', 'six\n']) await file.append(Buffer.from(line))
  await file.close()
  const lines = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
  assert.deepEqual(new Set(lines), new Set(['one\n', 'two\n', 'six\n']))
})

test('an audit log file that another program moves or removes is created again', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'logs', 'audit.log')
  const rotation = { maxBytes: 1000, maxBackups: 0, maxAgeMs: 0, compress: false }
  let now = 0
  const clock = { now: () => 0, monotonic: () => now }
  const file = new RotatingFile(path, rotation, { clock, onError: assert.ifError })
  await file.append(Buffer.from('one\n'))
  renameSync(path, join(directory, 'moved.log'))
  await file.append(Buffer.from('within the second\n'))
  now += 1000
  await file.append(Buffer.from('two\n'))
  assert.equal(readFileSync(path, 'utf8'), 'two\n')
  rmSync(join(directory, 'logs'), { recursive: true })
  now += 1000
  await file.append(Buffer.from('three\n'))
  await file.close()
  assert.equal(readFileSync(path, 'utf8'), 'three\n')
  assert.equal(readFileSync(join(directory, 'moved.log'), 'utf8'), 'one\nwithin the second\n')
})

test('audit log files older than the maximum age are deleted', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-audit-'))
  t.after(() => rmSync(directory, { recursive: true }))
  writeFileSync(join(directory, 'audit-2020-01-01T00-00-00.000.log'), 'old')
  const rotation = { maxBytes: 4, maxBackups: 0, maxAgeMs: 1000, compress: false }
  const file = new RotatingFile(join(directory, 'audit.log'), rotation, { clock: systemClock, onError: assert.ifError })
  for (const line of ['one\n', 'two\n']) await file.append(Buffer.from(line))
  await file.close()
  const names = readdirSync(directory)
  assert.equal(names.length, 2)
  assert.ok(!names.some((name) => name.includes('2020')))
})

test('audit log lines that arrive during a write are written together, and requests have to wait only if the buffer is full', async () => {
  const written: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const append = async (lines: Buffer) => {
    written.push(lines.toString())
    await promise
  }
  const output = { append, close: async () => {} }
  const sink = new LogSink({ output, truncation: whole, isStrict: false, faults: new Faults() })
  for (const text of ['a', 'b']) assert.equal(sink.write(event(text)), undefined)
  const waits = sink.write(event('c'.repeat(5 * 1024 * 1024)))
  assert.ok(waits instanceof Promise)
  resolve()
  await waits
  await sink.close()
  assert.equal(written.length, 1)
  assert.ok(written[0]!.startsWith('a\nb\nccc'))
})

test('a request that cannot be audited fails in strict mode, and otherwise increments a counter', async () => {
  const output = { append: () => Promise.reject(new Error('full')), close: async () => {} }
  const faults = new Faults()
  const strict = new LogSink({ output, truncation: whole, isStrict: true, faults })
  await assert.rejects(async () => await strict.write(event('a', 'RequestReceived')), /full/)
  assert.equal(strict.write(event('b')), undefined)
  await strict.close()
  const lenient = new LogSink({ output, truncation: whole, isStrict: false, faults })
  lenient.write(event('c', 'RequestReceived'))
  await lenient.close()
  assert.equal(faults.count, 3)
})

test('in strict audit mode, a request waits only until its own line is written', async () => {
  const appends: { readonly lines: string; readonly done: PromiseWithResolvers<void> }[] = []
  const append = (lines: Buffer) => {
    const done = Promise.withResolvers<void>()
    appends.push({ lines: lines.toString(), done })
    return done.promise
  }
  const strict = new LogSink({
    output: { append, close: async () => {} },
    truncation: whole,
    isStrict: true,
    faults: new Faults(),
  })
  const first = strict.write(event('a', 'RequestReceived'))
  await untilTrue(async () => appends.length === 1)
  const second = assert.rejects(async () => await strict.write(event('b', 'RequestReceived')), /full/)
  appends[0]!.done.resolve()
  await first
  await untilTrue(async () => appends.length === 2)
  appends[1]!.done.reject(new Error('full'))
  await second
  await strict.close()
  assert.deepEqual(
    appends.map(({ lines }) => lines),
    ['a\n', 'b\n'],
  )
})

test('audit lines of any length and with any characters are written completely', async () => {
  const written: string[] = []
  const output = { append: async (lines: Buffer) => void written.push(lines.toString()), close: async () => {} }
  const sink = new LogSink({ output, truncation: whole, isStrict: false, faults: new Faults() })
  const texts = ['ä'.repeat(10), '\u{1f600}'.repeat(20_000), 'x'.repeat(3_000_000), 'short']
  for (const round of [0, 1, 2]) for (const text of texts) sink.write(event(`${round}${text}`))
  await sink.close()
  const expected = [0, 1, 2].flatMap((round) => texts.map((text) => `${round}${text}\n`)).join('')
  assert.ok(written.join('') === expected)
})

test('an audit event that is too large is logged without its bodies, and is dropped if it is still too large', async () => {
  const written: string[] = []
  const output = { append: async (lines: Buffer) => void written.push(lines.toString()), close: async () => {} }
  const faults = new Faults()
  const sinkOf = (maxEvent: number) =>
    new LogSink({ output, truncation: { isEnabled: true, maxEvent, maxBatch: 100 }, isStrict: false, faults })
  for (const sink of [sinkOf(10), sinkOf(3), sinkOf(2)]) {
    sink.write(event('12345'))
    await sink.close()
  }
  assert.deepEqual([written, faults.count], [['12345\n', '123\n'], 1])
})

const unlimited = { buffer: 3, maxSize: 2, maxWaitMs: 60_000, rate: undefined, maxLength: 100 }

test('an audit batch is sent when it is full or due, and events that do not fit into the buffer are counted as lost', async () => {
  const sent: (readonly string[])[] = []
  const faults = new Faults()
  const { promise, resolve } = Promise.withResolvers<void>()
  const send = async (events: readonly string[]) => {
    sent.push(events)
    await promise
  }
  const batches = new Batches(unlimited, { send, faults, clock: systemClock })
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) batches.add(text)
  await untilTrue(async () => sent.length === 1)
  resolve()
  await untilTrue(async () => sent.length === 2)
  await batches.close()
  assert.deepEqual(sent, [['a', 'b'], ['c', 'd'], ['e']])
  assert.equal(faults.count, 1)
  const patient = new Batches({ ...unlimited, maxWaitMs: 1 }, { send, faults, clock: systemClock })
  patient.add('g')
  await untilTrue(async () => sent.length === 4)
})

test('the size and the rate of audit batches are limited', async () => {
  const times: number[] = []
  const sent: (readonly string[])[] = []
  const send = async (events: readonly string[]) => {
    times.push(performance.now())
    sent.push(events)
  }
  const options = { ...unlimited, buffer: 100, maxSize: 3, maxLength: 5, rate: { perSecond: 20, burst: 1 } }
  const batches = new Batches(options, { send, faults: new Faults(), clock: systemClock })
  for (const text of ['aaaa', 'bbbb', 'cc', 'dd', 'eeeeeeeee']) batches.add(text)
  await untilTrue(async () => sent.length === 3)
  await batches.close()
  assert.deepEqual(sent, [['aaaa'], ['bbbb'], ['cc', 'dd'], ['eeeeeeeee']])
  assert.ok(times[1]! - times[0]! > 40, `${times[1]! - times[0]!} ms between two batches`)
})

test('a failed audit batch is retried, and is dropped after five attempts', async () => {
  const faults = new Faults()
  let calls = 0
  const texts: string[] = []
  const sink = new WebhookSink({
    vendor: vendorOf('orch'),
    mode: 'batch',
    truncation: whole,
    firstPauseMs: 1,
    faults,
    clock: systemClock,
    batch: { ...unlimited, maxSize: 1 },
    send: async (text) => {
      if (++calls % 6 !== 0) throw new Error('no')
      texts.push(text)
    },
  })
  sink.write(event('{"a":1}'))
  await untilTrue(async () => faults.count === 1)
  sink.write(event('{"b":1}'))
  await untilTrue(async () => texts.length === 1)
  await sink.close()
  const { kind, apiVersion, items } = JSON.parse(texts[0]!)
  assert.deepEqual([kind, apiVersion, items], ['EventList', 'audit.orch.io/v1', [{ b: 1 }]])
})

test('the recent audit events in memory are limited in number and size', () => {
  const recent = new RecentEvents()
  for (let i = 0; i < 5000; i++) recent.write(event(`${i}`))
  recent.write(event('later', 'RequestReceived'))
  assert.deepEqual([recent.all().length, recent.all()[0], recent.all().at(-1)], [1000, '4000', '4999'])
  for (let i = 0; i < 1000; i++) recent.write(event('x'.repeat(10_000)))
  assert.ok(recent.all().length < 450)
  recent.write(event('y'.repeat(20_000)))
  assert.equal(recent.all().at(-1), 'yyy')
})

test('an audit event contains the values at the time of the request even if it is serialized later', () => {
  const request = new AuditedRequest({
    beginning: beginningOf('audit.orch.io/v1', 'Metadata'),
    auditId: 'a-1',
    requestUri: '/livez?"',
    verb: 'get',
    caller: new AuditedCaller({ user: undefined, impersonatedUser: undefined, sourceIps: [], userAgent: 'ä"' }),
    object: undefined,
    sent: { name: '', namespace: '', uid: '', resourceVersion: '' },
  })
  const list = ['early', 'yes']
  const told = eventOf(
    {
      stage: 'RequestReceived',
      request,
      code: 0,
      failure: undefined,
      received: 1000,
      reached: 1002,
      requestObject: undefined,
      responseObject: undefined,
      annotations: { list, length: list.length },
    },
    'orch.io',
  )
  list.push('late', 'no')
  const read = JSON.parse(told.text)
  assert.deepEqual([read.annotations, read.requestURI, read.userAgent], [{ early: 'yes' }, '/livez?"', 'ä"'])
  assert.deepEqual(Object.keys(JSON.parse(told.shortened()).annotations), ['early', 'audit.orch.io/truncated'])
  assert.equal(read.stageTimestamp, '1970-01-01T00:00:01.002000Z')
})

test('the text of an audit event does not depend on earlier events', () => {
  const nothing = { name: '', namespace: '', uid: '', resourceVersion: '' }
  const rows = ['plain', 'a"b', 'a\\b', 'ä', '\n'].flatMap((name, i) =>
    [[], ['a', '1'], ['a', '2'], ['a', '1', 'b"', '"'], ['a', '1']].map((list, j) => ({
      name,
      list,
      code: [200, 201, 0, 404][(i + j) % 4]!,
      received: 999 + 50 * j,
      reached: 1063 + 1000 * i + 64 * j,
    })),
  )
  for (const { name, list, code, received, reached } of [...rows, ...rows]) {
    const object = { plural: 'pods', namespace: name, name: '', group: '', version: 'v1', subresource: 'log' }
    const request = new AuditedRequest({
      beginning: beginningOf('audit.orch.io/v1', 'Metadata'),
      auditId: 'a-1',
      requestUri: `/${name}`,
      verb: 'get',
      caller: new AuditedCaller({ user: undefined, impersonatedUser: undefined, sourceIps: [], userAgent: '' }),
      object,
      sent: { ...nothing, name },
    })
    const annotations = { list, length: list.length }
    const stage = 'ResponseComplete'
    const bodies = { requestObject: undefined, responseObject: undefined }
    const failure = code === 404 ? ({ status: 'Failure', message: name } as Status) : undefined
    const { text } = eventOf({ stage, request, code, failure, received, reached, ...bodies, annotations }, 'orch.io')
    const read = JSON.parse(text)
    const reference = { resource: 'pods', namespace: name, name, apiVersion: 'v1', subresource: 'log' }
    assert.deepEqual(read.objectRef, reference)
    assert.deepEqual(
      [read.auditID, read.stage, read.requestURI, read.responseStatus?.code, read.responseStatus?.message],
      ['a-1', stage, `/${name}`, code === 0 ? undefined : code, code === 404 ? name : undefined],
    )
    assert.deepEqual(Object.entries(read.annotations ?? {}).flat(), list)
    const times = [read.requestReceivedTimestamp, read.stageTimestamp]
    assert.deepEqual(
      times,
      [received, reached].map((time) => new Date(time).toISOString().replace('Z', '000Z')),
    )
  }
})

test('audit times stay within 100 ms of the wall clock with at most one clock read per 100 ms', () => {
  const reads: number[] = []
  let now = 5000
  let monotonic = 0
  const clock = {
    now: () => {
      reads.push(monotonic)
      return now
    },
    monotonic: () => monotonic,
  }
  const timeAt = wallTime(clock)
  for (; monotonic < 200; monotonic++, now++) assert.equal(timeAt(monotonic), now)
  now -= 3000
  monotonic += 100
  now += 100
  assert.equal(timeAt(monotonic), now)
  assert.deepEqual(reads, [0, 100, 300])
})
