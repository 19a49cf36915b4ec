/**
 * Tests backups that are made during concurrent writes and then restored into a new store. According to the clients'
 * records, the content of a backup must be a state that existed, and must include all writes that were acknowledged
 * before the backup started. The tests run on the embedded store and on etcd. With ORCH_LONG=1, they make a hundred
 * backups.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { storedJson } from '../../src/api/codec/stored.ts'
import { openBackup } from '../../src/apiserver/backup/backup-file.ts'
import { parseFlags } from '../../src/base/flags/flags.ts'
import type { Transport } from '../../src/client/requests/transport.ts'
import { restore } from '../../src/server/backup/commands.ts'
import { restoreFlags } from '../../src/server/flags/backup.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { recordingTerminal } from '../apiserver/backup/terminal.ts'
import { seeded } from '../storage/store/random-source.ts'
import { startEtcd, steadyMs } from '../support/etcd.ts'
import { long } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { checkHistory, type List, type Seen } from './history.ts'
import { acknowledged, outcomes, readLog, report, revisionOf, workload } from './load.ts'
import { Recorder } from './recorder.ts'

const backups = long ? 100 : 2
const writers = 8
const prefix = 'objects/core/configmaps/default/'

test('backups of the embedded store that are created under load are consistent', { timeout: 400_000 }, (t) =>
  run(t, []),
)

test('backups of etcd that are created under load are consistent', { timeout: 400_000 }, async (t) => {
  const cluster = await startEtcd({ electionMs: steadyMs })
  t.after(() => cluster.stop())
  await run(t, [`--etcd-servers=${cluster.endpoints}`])
})

async function run(t: TestContext, flags: readonly string[]): Promise<void> {
  const seed = Number(process.env.ORCH_TEST_SEED ?? Date.now() % 2 ** 32)
  const directory = mkdtempSync(join(tmpdir(), 'orch-backups-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const server = await startServer(t, flags)
  const recorder = new Recorder(server.client())
  const start = await revisionOf(server.client())
  const stop = new AbortController()
  t.after(async () => stop.abort())
  const writing = Array.from({ length: writers }, (_, i) =>
    workload(recorder, { random: seeded(seed + i), signal: stop.signal }),
  )
  const transport = server.transport()
  for (let i = 0; i < backups; i++) {
    await acknowledged(recorder, 20)
    const file = join(directory, `${i}.backup`)
    await recorder.readAll(async () => {
      writeFileSync(file, await download(transport))
      return await restored(file, join(directory, `store-${i}`))
    })
  }
  stop.abort()
  await Promise.all(writing)
  const log = await readLog(recorder, start)
  const { writes, gets, lists } = recorder
  const faults = checkHistory({ log, start, writes, gets, lists, watches: [] })
  report(t, { backups, ...outcomes(writes), lists: lists.length, changes: log.length })
  assert.deepEqual(faults.slice(0, 10), [], `${faults.length} faults; repeat with ORCH_TEST_SEED=${seed}`)
}

async function download(transport: Transport): Promise<Buffer> {
  const { signal } = new AbortController()
  const answer = await transport({ method: 'GET', path: '/backup', headers: {}, body: undefined, signal })
  assert.equal(answer.status, 200)
  return Buffer.concat(await Array.fromAsync(answer.body))
}

/** Returns the content of a store restored from the backup. */
async function restored(file: string, directory: string): Promise<Pick<List, 'revision' | 'seen'>> {
  await restore(parseFlags(restoreFlags, [`--from=${file}`, `--data-dir=${directory}`]), recordingTerminal())
  const { header } = await openBackup(file)
  const store = await LmdbStore.open({ directory })
  const { entries, revision } = await store.list({ prefix })
  await store.close()
  rmSync(directory, { recursive: true })
  assert.ok(revision > header.revision)
  const seen = entries.map(({ key, revision, value }): [string, Seen] => {
    const { data } = JSON.parse(storedJson(value, '0', Buffer.allocUnsafe).json.toString())
    return [key.slice(prefix.length), { revision, value: data.a === data.z ? data.a : 'half' }]
  })
  return { revision: header.revision, seen: new Map(seen) }
}
