/**
 * Tests a disk that fails permanently, or is full once, at one of the first 200 calls, with a separate run for each
 * call. Rejected writes must never become visible, all acknowledged writes must exist after a restart, and no signal
 * may terminate the process, although lmdb corrupts its memory if the disk fails between the trial write and lmdb's own
 * write (`lmdb/damaged-memory.ts`).
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { temporaryDirectory } from '../storage/store/directory.ts'
import { compiled } from '../support/compile-cache.ts'
import { long } from '../support/long.ts'
import { report } from './load.ts'
import type { Line } from './nth-call-workload.ts'
import { compilePreload } from './recording.ts'

const run = promisify(execFile)
const workload = fileURLToPath(new URL('./nth-call-workload.ts', import.meta.url))
const calls = 200
/** Interval between the tested calls. The short variant skips most calls. */
const step = long ? 1 : 20

interface Failure {
  readonly from: number
  readonly to: number
  readonly error: number
}

const breaksAt = (call: number): Failure => ({ from: call, to: 2 ** 30, error: 5 })
const fullAt = (call: number): Failure => ({ from: call, to: call, error: 28 })

test('a store cannot be created on a disk that rejects writes, and the error contains the reason', async (t) => {
  const { tryOut } = await prepare(t)
  for (const failure of [breaksAt(1), fullAt(1), breaksAt(2)]) {
    const { lines, signal } = await tryOut(failure, `new-${failure.from}-${failure.error}`)
    assert.equal(signal, undefined)
    assert.match(lines.map((line) => ('unopened' in line ? line.unopened : '')).join(), /cannot write .*: (EIO|ENOSPC)/)
  }
})

for (const [fault, failureAt] of [
  ['breaks', breaksAt],
  ['is full once', fullAt],
] as const)
  test(`no acknowledged write is lost on a disk that ${fault} at any of the calls 1 to ${calls}`, {
    timeout: 900_000,
  }, async (t) => {
    const { tryOut, newStore } = await prepare(t)
    const counts = { runs: 0, committed: 0, refused: 0, ambiguous: 0 }
    for (let call = 1; call <= calls; call += step) {
      const place = `call-${call}`
      await newStore(place)
      const { lines, signal, data } = await tryOut(failureAt(call), place)
      assert.equal(signal, undefined, place)
      counts.runs++
      assertTruth(lines, { kept: await keysOf(data), name: place })
      for (const line of lines) if ('outcome' in line && line.outcome !== 'begun') counts[line.outcome]++
    }
    report(t, counts)
    assert.ok(counts.refused + counts.ambiguous > 0, 'nothing failed')
  })

async function prepare(t: { after(run: () => Promise<void>): void }) {
  const { directory, removeDirectory } = await temporaryDirectory()
  t.after(removeDirectory)
  const library = join(directory, 'failing-disk.so')
  await compilePreload('failing-disk.c', library)
  const dataIn = (place: string) => join(directory, place)
  return {
    newStore: async (place: string) => await (await LmdbStore.open({ directory: dataIn(place) })).close(),
    tryOut: async ({ from, to, error }: Failure, place: string) => {
      const data = dataIn(place)
      const outcomes = `${data}.outcomes`
      const numbers = { FAIL_FROM: `${from}`, FAIL_TO: `${to}`, FAIL_ERROR: `${error}` }
      // All files of the store, including the trial file of a new store.
      const failing = { LD_PRELOAD: library, FAIL_FILE: '.mdb', ...numbers }
      const env = { ...process.env, ...compiled, ...failing }
      const signal = await run(process.execPath, [workload, data, outcomes], { env, timeout: 60_000 }).then(
        () => undefined,
        (failure: { signal?: string; killed: boolean }) => {
          if (failure.killed || typeof failure.signal !== 'string') throw failure
          return failure.signal
        },
      )
      const text = readFileSync(outcomes, 'utf8')
      const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
      return { lines, signal, data }
    },
  }
}

function assertTruth(lines: readonly Line[], { kept, name }: { kept: readonly string[]; name: string }): void {
  const last = new Map(lines.flatMap((line) => ('key' in line ? [[line.key, line.outcome] as const] : [])))
  const keysWith = (outcome: string) => [...last].filter(([, found]) => found === outcome).map(([key]) => key)
  const committed = keysWith('committed').sort()
  for (const line of lines)
    if ('visible' in line) assert.deepEqual(line.visible!.toSorted(), committed, `${name}: what was seen`)
  assert.deepEqual(
    committed.filter((key) => !kept.includes(key)),
    [],
    `${name}: lost`,
  )
  assert.deepEqual(
    kept.filter((key) => last.get(key) === 'refused'),
    [],
    `${name}: refused, and there`,
  )
}

/** Checks the store after a restart with a working disk. */
async function keysOf(directory: string): Promise<string[]> {
  const store = await LmdbStore.open({ directory })
  try {
    return (await store.list({ prefix: '' })).entries.map(({ key }) => key)
  } finally {
    await store.close()
  }
}
