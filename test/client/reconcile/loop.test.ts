/**
 * Tests control loops: sources of keys, the first pass, waiting for a key, a clean shutdown, and reports of missing
 * permissions.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openLog } from '../../../src/base/telemetry/log.ts'
import { type Loop, startLoop, startLoops } from '../../../src/client/reconcile/loop.ts'
import { MissingRights } from '../../../src/client/reconcile/missing-rights.ts'
import { atStart, every, fromCache } from '../../../src/client/reconcile/sources.ts'
import { WorkQueueMetrics } from '../../../src/client/reconcile/work-queue-metrics.ts'
import { StatusError } from '../../../src/client/requests/status-error.ts'

function openRecords() {
  const lines: string[] = []
  const log = openLog({ write: (line) => lines.push(line) })
  return { lines, records: { log, metrics: new WorkQueueMetrics(), missingRights: new MissingRights(log) } }
}

function start(t: TestContext, loop: Partial<Loop>) {
  const { lines, records } = openRecords()
  const seen: string[] = []
  const reconcile: Loop['reconcile'] = async (key) => {
    seen.push(key)
    return 'done'
  }
  const running = startLoop({ name: 'things', sources: [], reconcile, ...loop }, records)
  t.after(() => running.stop())
  return { running, seen, lines, records }
}

const forbidden = new StatusError({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: 'Forbidden',
  code: 403,
  message: 'things is forbidden: cannot list things',
})

test('the first pass of a control loop ends when each initial key has been processed once', async (t) => {
  const { running, seen } = start(t, { sources: [atStart('a', 'b'), atStart('b', 'c')] })
  await running.firstPass
  assert.deepEqual(seen, ['a', 'b', 'c'])
})

test('the first pass of a control loop completes even if the loop has no keys or is stopped early', async (t) => {
  const { running } = start(t, {})
  await running.firstPass
  const { running: other } = start(t, {
    sources: [atStart('a')],
    reconcile: () => new Promise(() => {}),
    concurrency: 0,
  })
  await other.stop()
  await other.firstPass
})

test('if a reconcile step fails in the first pass of a control loop, the first pass rejects with the error, and the step is retried', async (t) => {
  let tries = 0
  const again = Promise.withResolvers<void>()
  const { running, lines } = start(t, {
    sources: [atStart('a')],
    backoff: { firstMs: 1, longestMs: 1 },
    reconcile: async () => {
      if (++tries === 1) throw new Error('not yet')
      again.resolve()
      return 'done'
    },
  })
  await assert.rejects(running.firstPass, /not yet/)
  await again.promise
  assert.equal(lines.filter((line) => line.includes('loop="things" key="a" error="not yet"')).length, 1)
})

test('a reconcile step interrupted by the shutdown does not make the first pass fail', async (t) => {
  const begun = Promise.withResolvers<void>()
  const { running } = start(t, {
    sources: [atStart('a')],
    reconcile: async (_key, signal) => {
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  await begun.promise
  await running.stop()
  await running.firstPass
})

test('a cache source enqueues all existing and expected keys, then changed keys, and all keys again after a reload', async (t) => {
  let tell = (_key: string | undefined) => {}
  const objects = ['widgets/a', 'widgets/ns/b']
  const cache = {
    prefix: 'widgets/',
    all: () => objects.map((key) => ({ key })),
    onChange: (listener: (key: string | undefined) => void) => {
      tell = listener
      return () => {
        tell = () => assert.fail('told after the end')
      }
    },
  }
  const { running, seen } = start(t, { sources: [fromCache(cache, { expected: () => ['missing'] })] })
  await running.firstPass
  assert.deepEqual(seen.splice(0), ['a', 'ns/b', 'missing'])
  tell('widgets/ns/c')
  await running.settled('ns/c')
  assert.deepEqual(seen.splice(0), ['ns/c'])
  tell(undefined)
  await running.settled('missing')
  assert.deepEqual(seen, ['a', 'ns/b', 'missing'])
})

test('a timer source enqueues its key immediately and then periodically until the loop ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { running, seen } = start(t, { sources: [every(1000, 'own')] })
  await running.firstPass
  for (let tick = 0; tick < 2; tick++) {
    t.mock.timers.tick(1000)
    await setImmediate()
  }
  assert.deepEqual(seen, ['own', 'own', 'own'])
  await running.stop()
  t.mock.timers.tick(5000)
  await setImmediate()
  assert.equal(seen.length, 3)
})

test('settled() resolves only after a reconcile attempt that starts after the change to the key', async (t) => {
  const steps: PromiseWithResolvers<'done'>[] = []
  const { running } = start(t, {
    reconcile: () => {
      const step = Promise.withResolvers<'done'>()
      steps.push(step)
      return step.promise
    },
  })
  await running.firstPass
  assert.equal(running.settled('a'), undefined)
  running.add('a')
  const first = running.settled('a')!
  running.add('a')
  let second = false
  const waiting = running.settled('a')!.then(() => {
    second = true
  })
  steps[0]!.resolve('done')
  await first
  assert.equal(second, false)
  await setImmediate()
  steps[1]!.resolve('done')
  await waiting
  assert.equal(running.settled('a'), undefined)
})

test('stopping a control loop waits for the running step and then runs the cleanup once', async (t) => {
  const order: string[] = []
  const step = Promise.withResolvers<'done'>()
  const { running } = start(t, {
    sources: [atStart('a')],
    reconcile: async (_key, signal) => {
      signal.addEventListener('abort', () => order.push('aborted'))
      await step.promise
      order.push('step')
      return 'done'
    },
    onStop: async () => {
      order.push('taken back')
    },
  })
  await setImmediate()
  const stopping = running.stop()
  step.resolve('done')
  await stopping
  assert.deepEqual(order, ['aborted', 'step', 'taken back'])
})

test('control loops share one source of changes, and start once the source is synced', async () => {
  const { records } = openRecords()
  const synced = Promise.withResolvers<void>()
  let runs = 0
  const feed = {
    synced: synced.promise,
    run: (signal: AbortSignal) => {
      runs++
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    },
  }
  const seen: string[] = []
  const loopOf = (name: string): Loop => ({
    name,
    sources: [{ feed, ...atStart(name) }],
    reconcile: async (key) => {
      seen.push(key)
      return 'done'
    },
  })
  const loops = startLoops([loopOf('one'), loopOf('two')], records)
  await setImmediate()
  assert.deepEqual([runs, seen], [1, []])
  synced.resolve()
  await loops.firstPass
  assert.deepEqual(seen, ['one', 'two'])
  await loops.stop()
})

test('a rejection from admission is not reported as a missing permission', async (t) => {
  for (const message of [
    'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    'pods "a" is forbidden: it cannot run here (rejected by the admission plugin PodSecurity)',
    'admission webhook "w.example.com" denied the request: cannot do that',
  ]) {
    const refused = new StatusError({ ...forbidden.status, message })
    const { running, lines, records } = start(t, {
      sources: [atStart('a')],
      reconcile: async () => {
        throw refused
      },
    })
    await assert.rejects(running.firstPass)
    await setImmediate()
    assert.equal(records.missingRights.note(), undefined)
    assert.ok(lines.length > 0 && !lines.some((line) => line.includes('lacks a permission')), lines.join())
  }
})

test('a missing permission is reported only once until it is granted', async (t) => {
  let permitted = false
  const { running, lines, records } = start(t, {
    sources: [atStart('a', 'b')],
    reconcile: async () => {
      if (!permitted) throw forbidden
      return 'done'
    },
  })
  await assert.rejects(running.firstPass)
  await setImmediate()
  assert.equal(records.missingRights.note(), 'things is not permitted: things is forbidden: cannot list things')
  assert.equal(lines.length, 1)
  assert.match(lines[0]!, /lacks a permission.*loop="things".*cannot list things/)
  permitted = true
  for (const key of ['a', 'b']) {
    assert.notEqual(records.missingRights.note(), undefined)
    running.add(key)
    await running.settled(key)
  }
  assert.equal(records.missingRights.note(), undefined)
  assert.match(lines[1]!, /has the required permission again/)
})

test('an error response to a reconcile step is logged once, without a stack trace, until the step succeeds', async (t) => {
  const rejected = (name: string, why: string, code = 403) =>
    new StatusError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Forbidden',
      code,
      message: `pods "${name}" is forbidden: ${why}`,
      details: { name, kind: 'pods' },
    })
  const failures = [
    ...['web-a1', 'web-b2', 'web-c3'].map((name) => rejected(name, 'exceeded quota: small')),
    rejected('web-d4', 'denied by the webhook'),
    ...['web-d4', 'web-d4'].map((name) => rejected(name, 'the stored value is damaged', 500)),
    new Error('broken'),
    undefined,
    rejected('web-e5', 'exceeded quota: small'),
  ]
  const over = Promise.withResolvers<void>()
  const { lines, running } = start(t, {
    sources: [atStart('web')],
    backoff: { firstMs: 1, longestMs: 1 },
    reconcile: async () => {
      if (failures.length === 0) over.resolve()
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      if (failures.length > 0) setImmediate().then(() => running.add('web'))
      return 'done'
    },
  })
  await over.promise
  const lineMatches = lines.map((line) =>
    /(warning|error) .*?error="(?:pods \\"([^"]*)\\" is forbidden: )?([^"]*)"(.*)/.exec(line),
  )
  assert.deepEqual(
    lineMatches.map((match) => [match?.[1], match?.[3], match?.[4]?.includes('stack=')]),
    [
      ['warning', 'exceeded quota: small', false],
      ['warning', 'denied by the webhook', false],
      ['error', 'the stored value is damaged', false],
      ['error', 'broken', true],
      ['warning', 'exceeded quota: small', false],
    ],
    lines.join(''),
  )
})
