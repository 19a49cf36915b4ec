/**
 * Tests that a server with several workers on the embedded store acts as one server (`workers-as-one.ts`). Regardless
 * of how a worker exits, no acknowledged write may be lost, the worker must be replaced, and counters must not
 * decrease. If the store thread exits, the process exits. After SIGTERM, running requests finish.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readServerFlags } from '../../src/server/flags/command-line.ts'
import { openSharedStore } from '../../src/server/workers/shared-store.ts'
import { long, longTest } from '../support/long.ts'
import { configMaps } from '../support/paths.ts'
import { startUp } from '../support/server.ts'
import { openTestLog } from '../support/test-log.ts'
import { untilTrue } from '../support/until.ts'
import { assertAllThere, countOf, creates, endStore, replaceOne, startFragile, writeAll } from './worker-faults.ts'
import { describeAsOne } from './workers-as-one.ts'

const timeout = 180_000

test('an invalid number of workers is rejected', async () => {
  for (const value of ['0', '-1', 'two', '65', '1.5', ''])
    await assert.rejects(readServerFlags('apiserver', [`--workers=${value}`]), /--workers.*use 1 to 64/)
})

test('etcd TLS flags are rejected without --etcd-servers', async () => {
  const { options } = await readServerFlags('apiserver', ['--workers=2', '--etcd-cafile=ca.crt'])
  const log = openTestLog()
  const opening = openSharedStore(options, { onFailed: () => {}, log, stopping: new AbortController().signal })
  await assert.rejects(opening, /--etcd-cafile requires --etcd-servers/)
})

describeAsOne('several workers behave like one server', { flags: async () => [], keepsHistory: true })

/**
 * The workers to terminate, and how. Worker `0` also runs the tasks that must run only once. The long variant covers
 * every combination.
 */
const ways = ['0 error', ...(long ? ['1 exit', '0 memory', '1 stall', '1 terminate', '1 loop'] : [])]

test('acknowledged writes survive when workers, the store thread or other threads exit', { timeout }, async (t) => {
  const { server: fragile, end } = await startFragile(t)
  let shown = 0
  for (const [i, exit] of ways.entries()) {
    await t.test(`a worker that exits is replaced, and counters do not decrease: ${exit}`, async () => {
      const acknowledged = await replaceOne(fragile, () => end(exit), i + 1)
      await assertAllThere(fragile, acknowledged)
      const client = fragile.client()
      const now = await creates(client)
      assert.ok(now >= shown, `${now} creates are counted, ${shown} were`)
      shown = now
      client.close()
      assert.equal(countOf(fragile.output(), /a worker exited; starting a replacement/g), i + 1)
    })
  }
  await t.test('if the store thread exits, the server logs a reason and exits', async () => {
    const acknowledged = await endStore(fragile, () => end('hub'))
    assert.equal(fragile.process.exitCode, 1)
    assert.equal(countOf(fragile.output(), /the store is no longer writable; stopping the server/g), 1)
    await fragile.restart()
    await assertAllThere(fragile, acknowledged)
  })
  await t.test(
    'after several workers are killed, a single worker returns the writes that they acknowledged',
    async () => {
      const writing = writeAll(fragile, 'killed')
      await untilTrue(async () => writing.acknowledged.size > 50)
      await fragile.kill()
      await writing.stop()
      await fragile.restart(['--workers=1'])
      await assertAllThere(fragile, writing.acknowledged)
    },
  )
})

longTest('a worker that hangs during startup is replaced', { timeout }, async (t) => {
  const { server, end } = await startFragile(t)
  end('1 start')
  await untilTrue(async () => /replaced a worker that exited.*worker=1/.test(server.output()), 120_000)
  assert.match(server.output(), /a worker exited.*worker=1 why="it did not respond for 30 seconds"/)
})

longTest('SIGTERM lets running requests of all workers finish', { timeout }, async (t) => {
  const stopped = await startUp(t, ['--workers=2'])
  const watchers = Array.from({ length: 9 }, () => stopped.client())
  const under = watchers.map(async (client) => {
    for await (const _ of client.watch(`${configMaps}?watch=true`, new AbortController().signal));
  })
  const writing = writeAll(stopped, 'stopped')
  await untilTrue(async () => writing.acknowledged.size > 50)
  const code = await stopped.stop()
  await writing.stop()
  assert.equal(code, 0, stopped.output())
  await Promise.allSettled(under)
  await stopped.restart(['--workers=1'])
  await assertAllThere(stopped, writing.acknowledged)
})
