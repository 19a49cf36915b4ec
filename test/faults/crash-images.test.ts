/**
 * Tests power loss at any moment. Regardless of which unsynced writes have reached the disk, the store opens and
 * contains a prefix of the commits that includes every acknowledged commit. A test that only sends SIGKILL cannot
 * detect lost writes, because the page cache survives. This test therefore records the disk writes and constructs
 * possible disk contents. With ORCH_LONG=1, the test constructs more of them.
 */
import assert from 'node:assert/strict'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  heldRevision,
  isSound,
  type LogRecord,
  openTables,
  readLogRecord,
  readRevision,
  readState,
  type Tables,
  versionKey,
} from '../../src/storage/store/lmdb/tables.ts'
import type { Revision } from '../../src/storage/store/store.ts'
import { temporaryDirectory } from '../storage/store/directory.ts'
import { seeded } from '../storage/store/random-source.ts'
import { long } from '../support/long.ts'
import type { Acknowledged } from './crash-workload.ts'
import { compilePreload, crashImage, type DiskEvent, finalImage, recordProgram } from './recording.ts'

const images = long ? 600 : 120
const workload = fileURLToPath(new URL('./crash-workload.ts', import.meta.url))

describe('power loss during writes', () => {
  test(`${images} crash images of the data file contain every acknowledged commit`, { timeout: 400_000 }, async () => {
    const { directory, removeDirectory } = await temporaryDirectory()
    try {
      await proveImages(directory)
    } finally {
      await removeDirectory()
    }
  })
})

async function proveImages(directory: string): Promise<void> {
  const data = join(directory, 'data')
  const recorded = {
    preload: join(directory, 'recorder.so'),
    log: join(directory, 'record'),
    file: join(data, 'data.mdb'),
    acks: join(directory, 'acks'),
  }
  await compilePreload('recorder.c', recorded.preload)
  const events = await recordProgram(workload, [data, recorded.acks, '7'], recorded)
  assert.ok(finalImage(events).equals(await readFile(recorded.file)), 'the recorder missed a write')
  const commits = acknowledged(events, events.length)
  assert.equal(commits.size, 400)
  // Before the first acknowledgement, the store may still be incomplete.
  const first = events.findIndex((event) => event.kind === 'a')
  const random = seeded(2026)
  for (let i = 0; i < images; i++) {
    const crash = first + 1 + random.below(events.length - first)
    await proveImage(join(directory, `image-${i}`), crashImage(events, crash, random), {
      commits,
      durable: lastRevision(acknowledged(events, crash)),
      name: `image ${i}, before event ${crash}`,
    })
  }
}

interface Expected {
  readonly commits: ReadonlyMap<Revision, Acknowledged>
  readonly durable: Revision
  readonly name: string
}

async function proveImage(directory: string, image: Buffer, { commits, durable, name }: Expected): Promise<void> {
  await mkdir(directory)
  await writeFile(join(directory, 'data.mdb'), image)
  const tables = openTables(directory)
  try {
    const { revision, oldest } = readState(tables.meta)
    assert.ok(revision >= durable, `${name}: at ${revision}, acknowledged ${durable}`)
    assert.deepEqual(readCurrent(tables), stateAt(commits, revision), name)
    proveLog(tables, commits, { revision, oldest, name })
  } finally {
    await tables.root.close()
    await rm(directory, { recursive: true })
  }
}

/**
 * Checks that the log contains every retained change, including earlier changes in the journal, and every value that
 * was replaced.
 */
function proveLog(
  tables: Tables,
  commits: ReadonlyMap<Revision, Acknowledged>,
  { revision, oldest, name }: { revision: Revision; oldest: Revision; name: string },
): void {
  const logged = readWholeLog(tables)
  const beginning = Math.min(oldest, (logged[0]?.revision ?? oldest + 1) - 1)
  assert.deepEqual(
    logged.map((record) => record.revision),
    range(beginning + 1, revision),
    name,
  )
  for (const record of logged) {
    const commit = commits.get(record.revision)!
    assert.equal(record.key.toString(), commit.key, name)
    assert.equal(record.deletes, commit.value === undefined, name)
    assert.match(record.note?.text.toString() ?? '', /^\d\.\d+$/, name)
    if (record.previous === 0) continue
    // Values that the journal must not retain are dropped from the part of the log that only the journal retains.
    if (record.reduced) assert.ok(record.revision <= oldest && commit.key.startsWith('writer/0/'), name)
    else assert.equal(record.replaced.toString(), commits.get(record.previous)!.value, name)
    const replacedAt = tables.history.get(versionKey(record.key, record.previous))
    assert.equal(replacedAt && readRevision(replacedAt, 0), record.revision, name)
  }
}

// A value is valid only until the next value is read, so each value is processed immediately.
function readWholeLog({ log }: Tables): (LogRecord & { revision: Revision })[] {
  const records: (LogRecord & { revision: Revision })[] = []
  for (const { key, value } of log.getRange({})) {
    const revision = readRevision(Buffer.from(key), 0)
    const record = readLogRecord(revision, value)
    assert.ok(record)
    records.push({ ...record, replaced: Buffer.copyBytesFrom(record.replaced), revision })
  }
  return records
}

function readCurrent({ current }: Tables): [string, Revision, string][] {
  const found: [string, Revision, string][] = []
  for (const { key, value } of current.getRange({})) {
    assert.ok(isSound(key, value))
    found.push([Buffer.from(key).toString(), heldRevision(value), value.subarray(8).toString()])
  }
  return found
}

function stateAt(commits: ReadonlyMap<Revision, Acknowledged>, last: Revision): [string, Revision, string][] {
  const state = new Map<string, [string, Revision, string]>()
  for (const revision of range(2, last)) {
    const { key, value } = commits.get(revision)!
    if (value === undefined) state.delete(key)
    else state.set(key, [key, revision, value])
  }
  return [...state.values()].sort(([a], [b]) => (a < b ? -1 : 1))
}

function acknowledged(events: readonly DiskEvent[], before: number): Map<Revision, Acknowledged> {
  const lines = events.slice(0, before).filter((event) => event.kind === 'a')
  const acks = lines.map((event) => JSON.parse(event.data.toString()) as Acknowledged)
  return new Map(acks.map((ack) => [ack.revision, ack]))
}

/** Revisions are assigned and become durable in order, so the highest revision represents all revisions. */
function lastRevision(commits: ReadonlyMap<Revision, Acknowledged>): Revision {
  return [...commits.keys()].reduce((last, revision) => Math.max(last, revision), 1)
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)
}
