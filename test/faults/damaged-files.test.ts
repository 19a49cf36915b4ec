/**
 * Tests damaged data files: files with flipped bits, zeroed or swapped pages, or a truncated end. A separate process
 * opens them. The store must return the data that was written, report an object as unreadable, or report that the file
 * is damaged. The store must never return another object, silently omit an object, or crash the process. With
 * ORCH_LONG=1, the test opens more files.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { encodeStored } from '../../src/api/codec/stored.ts'
import { configMap } from '../../src/api/kinds/core/config-map.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { temporaryDirectory } from '../storage/store/directory.ts'
import { type RandomSource, seeded } from '../storage/store/random-source.ts'
import { compiled } from '../support/compile-cache.ts'
import { long } from '../support/long.ts'
import type { Read, Report } from './damaged-reader.ts'

const reader = fileURLToPath(new URL('./damaged-reader.ts', import.meta.url))
const filesPerKind = long ? 48 : 2
const pageSize = 4096
const retention = { time: 3_600_000, bytes: 2 ** 30, withoutValues: [] }

/**
 * Creates objects of several sizes. Then changes and deletes some of them, and returns the revision before these
 * changes.
 */
async function makeData(directory: string): Promise<number> {
  const store = await LmdbStore.open({ directory, retention })
  const written = new Map<string, number>()
  const write = async (i: number, serial: number) => {
    const name = `c${String(i).padStart(4, '0')}`
    const key = `objects/core/configmaps/default/${name}`
    const text = `${serial} `.repeat(i % 10 === 0 ? 1500 : 40)
    const labels = { n: `${i % 7}` }
    const uid = `uid-${i}-${serial}`
    const metadata = { name, namespace: 'default', uid, creationTimestamp: '2026-01-01T00:00:00Z', labels }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text } }
    const value = encodeStored(key, { object, order: configMap.schema, header: { labels } })
    const note = { time: Date.now(), text: Buffer.from(`note ${uid}`) }
    const result = await store.commit({ key, expected: written.get(key) ?? 0, value, note })
    assert.ok(result.outcome === 'committed')
    written.set(key, result.revision)
  }
  await Promise.all(Array.from({ length: 300 }, (_, i) => write(i, 0)))
  const revision = store.revision()
  for (let i = 0; i < 300; i += 4) await write(i, 1)
  for (const [key, expected] of [...written].filter((_, i) => i % 9 === 1))
    await store.commit({ key, expected, value: undefined })
  await store.close()
  return revision
}

type Spoil = (file: Buffer, random: RandomSource) => Buffer

const damages: { readonly [kind: string]: Spoil } = {
  'a flipped bit': (file, random) => {
    file[random.below(file.length)]! ^= 1 << random.below(8)
    return file
  },
  'a flipped bit in a page header': (file, random) => {
    file[random.below(file.length / pageSize) * pageSize + random.below(64)]! ^= 1 << random.below(8)
    return file
  },
  'a zeroed page': (file, random) => {
    const at = random.below(file.length / pageSize) * pageSize
    return file.fill(0, at, at + pageSize)
  },
  'a page overwritten with another page': (file, random) => {
    const from = random.below(file.length / pageSize)
    const to = random.below(file.length / pageSize)
    file.copy(file, to * pageSize, from * pageSize, (from + 1) * pageSize)
    return file
  },
  'a truncated file': (file, random) => file.subarray(0, random.below(file.length)),
}

interface Outcome {
  readonly signal: string | null
  readonly code: number | null
  readonly report: Report | undefined
  readonly stderr: string
}

/** When all pages are checked: before the store is used, or in the background while it is used. */
type Mode = '--before' | '--background'

/**
 * Reads directories in one process. If the process crashes, the crash is attributed to the first directory without a
 * report.
 */
function readDamaged(mode: Mode, directories: readonly string[], revision: number): Promise<Outcome[]> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [reader, mode, String(revision), ...directories],
      { env: { ...process.env, ...compiled }, timeout: 300_000, maxBuffer: 1024 ** 3 },
      (_, stdout, stderr) => {
        const reports: Report[] = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
        const { signalCode: signal, exitCode: code } = child
        const outcomes: Outcome[] = reports.map((report) => ({ signal: null, code: 0, report, stderr }))
        if (signal !== null || code !== 0) outcomes.push({ signal, code, report: undefined, stderr })
        resolve(outcomes)
      },
    )
  })
}

function assertTrue(truth: Read, { signal, code, report, stderr }: Outcome): 'sentence' | 'named' | 'all there' {
  assert.equal(signal, null, stderr)
  assert.equal(code, 0, stderr)
  assert.ok(report)
  const { objects, unreadable = [], exact, log, past } = report.read ?? {}
  if (objects !== undefined) {
    for (const [key, shown] of Object.entries(objects)) assert.equal(shown, truth.objects[key], key)
    const missing = Object.keys(truth.objects).filter((key) => objects[key] === undefined)
    assert.ok(missing.length <= unreadable.length, `${missing} are missing, and of these are told ${unreadable}`)
  }
  for (const [key, shown] of Object.entries(exact ?? {}))
    if (shown !== 'unreadable') assert.equal(shown, truth.exact[key], `${key} at an older revision`)
  if (exact !== undefined) assert.equal(Object.keys(exact).length, Object.keys(truth.exact).length)
  for (const [i, line] of (log ?? []).entries()) if (!line.includes('unreadable')) assert.equal(line, truth.log[i])
  for (const [key, lines] of Object.entries(past ?? {})) {
    const isDamaged = unreadable.includes(key) || lines.some((line) => line.includes('unreadable'))
    if (!isDamaged) assert.deepEqual(lines, truth.past[key], `the past of ${key}`)
  }
  return 'sentence' in report ? 'sentence' : unreadable.length > 0 ? 'named' : 'all there'
}

/** Returns the used part of the file, without the preallocated space that follows. */
function usedPart(file: Buffer): Buffer {
  const [even, odd] = [0, pageSize].map((meta) => file.readBigUInt64LE(meta + 152)) as [bigint, bigint]
  const lastPage = Number(file.readBigUInt64LE((even > odd ? 0 : pageSize) + 144))
  return file.subarray(0, (lastPage + 1) * pageSize)
}

for (const mode of ['--before', '--background'] as const)
  test(`damage to data files is reported and never causes wrong data or a crash (page check: ${mode.slice(2)})`, (t) =>
    readAll(t, mode))

async function readAll(t: TestContext, mode: Mode): Promise<void> {
  const { directory, removeDirectory } = await temporaryDirectory()
  t.after(removeDirectory)
  const sound = join(directory, 'sound')
  const revision = await makeData(sound)
  const used = usedPart(await readFile(join(sound, 'data.mdb')))
  const damaged = Object.keys(damages).flatMap((kind) =>
    Array.from({ length: filesPerKind }, (_, seed) => ({ kind, seed, place: join(directory, `${kind}-${seed}`) })),
  )
  for (const { kind, seed, place } of damaged) {
    await mkdir(place)
    await writeFile(join(place, 'data.mdb'), damages[kind]!(Buffer.from(used), seeded(seed)))
  }
  const [first, ...outcomes] = await readDamaged(mode, [sound, ...damaged.map(({ place }) => place)], revision)
  assert.ok(first?.report?.read !== undefined && !('sentence' in first.report), first?.stderr ?? 'no report')
  const truth = first.report.read as Read
  const counts = { sentence: 0, named: 0, 'all there': 0 }
  for (const [i, outcome] of outcomes.entries())
    try {
      counts[assertTrue(truth, outcome)]++
    } catch (cause) {
      throw new Error(`${damaged[i]!.kind}, seed ${damaged[i]!.seed}: ${(cause as Error).message}`, { cause })
    }
  const files = counts.sentence + counts.named + counts['all there']
  assert.equal(files, filesPerKind * Object.keys(damages).length)
  t.diagnostic(JSON.stringify(counts))
  assert.ok(counts.sentence > filesPerKind && counts.named > 0, JSON.stringify(counts))
}
