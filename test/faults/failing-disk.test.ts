/**
 * Tests a store on a failing disk. All concurrent commits are rejected together and never become visible, and the
 * process survives. After an out-of-space error, the store accepts writes again as soon as there is space. After a
 * failed write or sync, the store stops writing.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { temporaryDirectory } from '../storage/store/directory.ts'
import { compiled } from '../support/compile-cache.ts'
import type { Outcomes } from './failing-workload.ts'
import { compilePreload } from './recording.ts'

const run = promisify(execFile)
const workload = fileURLToPath(new URL('./failing-workload.ts', import.meta.url))
const EIO = 5
const ENOSPC = 28

describe('the store on a failing disk', () => {
  test('writes are rejected while the disk is full, and succeed once space is available', () =>
    withDisk('w', ENOSPC, async (outcomes, reopened) => {
      assert.deepEqual(outcomes.during, new Array(10).fill('StoreFull'))
      assert.deepEqual(outcomes.visibleDuring, ['before'])
      assert.equal(outcomes.after, 'committed')
      assert.equal(outcomes.failed, undefined)
      assert.deepEqual(outcomes.visibleAfter, ['after', 'before'])
      assert.deepEqual(outcomes.watched, ['before', 'after'])
      assert.deepEqual(reopened, ['after', 'before'])
    }))

  for (const size of [400_000, 10])
    test(`after an error in a data write of ${size} bytes, the store stops writing`, () =>
      withDisk(
        'w',
        EIO,
        async (outcomes, reopened) => {
          assert.deepEqual(outcomes.during, new Array(10).fill('StoreError'))
          assert.equal(outcomes.after, 'StoreError')
          assert.deepEqual(outcomes.visibleAfter, ['before'])
          assert.match(outcomes.failed!, /cannot write the data file: EIO/)
          assert.deepEqual(reopened, ['before'])
        },
        size,
      ))

  // The pages of a failed sync are lost, whatever the reason for the failure. A later sync would succeed without them.
  for (const error of [EIO, ENOSPC])
    test(`after the error ${error} in a sync, the store stops writing and the commits stay invisible`, () =>
      withDisk('s', error, async (outcomes, reopened) => {
        assertFailed(outcomes)
        assert.deepEqual(outcomes.visibleDuring, ['before'])
        assert.deepEqual(outcomes.visibleAfter, ['before'])
        assert.deepEqual(reopened, ['before'])
      }))

  test('after an error in a meta page write, the store stops reading and writing until a restart', () =>
    withDisk('m', EIO, async (outcomes, reopened) => {
      assertFailed(outcomes)
      assert.deepEqual(outcomes.visibleDuring, ['refused'])
      assert.deepEqual(reopened, ['before'])
    }))
})

function assertFailed(outcomes: Outcomes): void {
  for (const outcome of [...outcomes.during, outcomes.after]) assert.match(outcome, /^StoreError/)
  assert.match(outcomes.during[0]!, /ambiguous/)
  assert.deepEqual(outcomes.watched, ['before'])
  assert.match(outcomes.failed!, /the data file failed/)
}

async function withDisk(
  letter: string,
  error: number,
  prove: (outcomes: Outcomes, reopened: string[]) => Promise<void>,
  // The values need more space than the store has reserved in advance.
  bytesPerValue = 400_000,
): Promise<void> {
  const { directory, removeDirectory } = await temporaryDirectory()
  try {
    const data = join(directory, 'data')
    const control = join(directory, 'control')
    const library = join(directory, 'failing-disk.so')
    await compilePreload('failing-disk.c', library)
    const failing = { LD_PRELOAD: library, FAIL_FILE: join(data, 'data.mdb'), FAIL_CONTROL: control }
    const env = { ...process.env, ...compiled, ...failing }
    const args = [data, control, letter, String(error), String(bytesPerValue)]
    const { stdout } = await run(process.execPath, [workload, ...args], {
      env,
      timeout: 300_000,
    })
    await prove(JSON.parse(stdout), await keysOf(data))
  } finally {
    await removeDirectory()
  }
}

async function keysOf(directory: string): Promise<string[]> {
  const store = await LmdbStore.open({ directory })
  try {
    return (await store.list({ prefix: '' })).entries.map((entry) => entry.key)
  } finally {
    await store.close()
  }
}
