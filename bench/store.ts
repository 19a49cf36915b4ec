/**
 * Measures durable commits to the embedded store by one client and by 64 clients, compared in the same run with a bare
 * loop of lmdb transactions that have the same batch sizes. Also measures the cost of compaction for a writer. Prints
 * ratios, which are comparable across machines. Run it with `bin/node bench/store.ts [seconds]`. Other benchmarks call
 * `benchStore`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { LmdbStore } from '../src/storage/store/lmdb/store.ts'
import {
  append,
  formatVersion,
  logRecord,
  openTables,
  revisionKey,
  type Tables,
  versionKey,
  write,
  writeState,
} from '../src/storage/store/lmdb/tables.ts'
import type { Revision } from '../src/storage/store/store.ts'

const value = Buffer.alloc(1000, 'value ')
const keysPerClient = 20

export interface Commits {
  readonly clients: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

export interface StoreFigures {
  readonly commits: readonly (Commits & { readonly bare: number })[]
  readonly quiet: Commits
  readonly compacting: Commits
}

export async function benchStore(seconds: number): Promise<StoreFigures> {
  const commits = []
  for (const clients of [1, 64]) {
    const bare = await withDirectory((directory) => bareLoop(directory, clients, seconds))
    const measured = await withStore((store) => commitLoop(store, clients, seconds))
    commits.push({ ...measured, bare })
  }
  return { commits, ...(await compactionCost(seconds)) }
}

/** Commits as fast as responses arrive. Each client rewrites its own keys one after another. */
async function commitLoop(store: LmdbStore, clients: number, seconds: number): Promise<Commits> {
  const times: number[] = []
  const start = performance.now()
  const end = start + seconds * 1000
  const client = async (name: number) => {
    const held: Revision[] = new Array(keysPerClient).fill(0)
    for (let i = 0; performance.now() < end; i = (i + 1) % keysPerClient) {
      const requestedAt = performance.now()
      const outcome = await store.commit({ key: `bench/${name}/${i}`, expected: held[i]!, value })
      times.push(performance.now() - requestedAt)
      if (outcome.outcome === 'conflict') throw new Error('nobody else writes this key')
      held[i] = outcome.revision
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, name) => client(name)))
  const took = (performance.now() - start) / 1000
  times.sort((a, b) => a - b)
  return {
    clients,
    perSecond: times.length / took,
    p50: times[times.length >> 1]!,
    p99: times[Math.floor(times.length * 0.99)]!,
  }
}

/**
 * Measures the limit of lmdb alone: the same records in transactions of the same size, on this thread and without any
 * clients.
 */
function bareLoop(directory: string, batch: number, seconds: number): number {
  const tables = openTables(directory)
  const start = performance.now()
  const end = start + seconds * 1000
  let revision = 1
  for (let round = 0; performance.now() < end; round++) {
    tables.root.transactionSync(() => {
      for (let i = 0; i < batch; i++) bareCommit(tables, `bench/${i}/${round % keysPerClient}`, ++revision)
      writeState(tables.meta, { format: formatVersion, revision, oldest: 1 })
    })
  }
  const perSecond = (revision - 1) / ((performance.now() - start) / 1000)
  tables.root.close()
  return perSecond
}

const record = Buffer.concat([Buffer.alloc(8), value])

function bareCommit(tables: Tables, name: string, revision: Revision): void {
  const key = Buffer.from(name)
  const held = tables.current.get(key)
  append(
    tables.log,
    revisionKey(revision),
    logRecord(revision, { previous: 1, deletes: false, key, note: undefined, replaced: held ?? key }),
  )
  if (held) write(tables.history, versionKey(key, revision), revisionKey(revision))
  write(tables.current, key, record)
}

async function compactionCost(seconds: number): Promise<{ quiet: Commits; compacting: Commits }> {
  const quiet = await withStore((store) => commitLoop(store, 16, seconds))
  const compacting = await withStore(async (store) => {
    let running = true
    const compactor = (async () => {
      while (running) {
        await store.compact(await store.revision())
        await setImmediate()
      }
    })()
    try {
      return await commitLoop(store, 16, seconds)
    } finally {
      running = false
      await compactor
    }
  })
  return { quiet, compacting }
}

function withStore<T>(run: (store: LmdbStore) => Promise<T>): Promise<T> {
  return withDirectory(async (directory) => {
    const store = await LmdbStore.open({ directory })
    try {
      return await run(store)
    } finally {
      await store.close()
    }
  })
}

async function withDirectory<T>(run: (directory: string) => Promise<T> | T): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'orch-bench-'))
  try {
    return await run(directory)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

export function printStore(figures: StoreFigures, print: (line: string) => void): void {
  const round = (number: number) => number.toLocaleString('en', { maximumFractionDigits: 2 })
  for (const { clients, perSecond, p50, p99, bare } of figures.commits) {
    print(
      `${clients} clients: ${round(perSecond)} durable commits/s (bare lmdb ${round(bare)}/s, ratio ${round(perSecond / bare)}), p50 ${round(p50)} ms, p99 ${round(p99)} ms`,
    )
  }
  const { quiet, compacting } = figures
  print(
    `16 clients: p99 ${round(quiet.p99)} ms, ${round(compacting.p99)} ms under compaction (ratio ${round(compacting.p99 / quiet.p99)}); ${round(quiet.perSecond)}/s, ${round(compacting.perSecond)}/s`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  printStore(await benchStore(Number(process.argv[2] ?? 3)), (line) => console.log(line))
}
