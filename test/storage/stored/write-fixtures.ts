/**
 * Writes the fixtures of this version: its data in a data directory, in etcd and in a backup, and the responses of a
 * server with this data. Each release adds one set, which all later versions must read (`fixtures.test.ts`):
 *
 *     bin/node test/storage/stored/write-fixtures.ts
 *
 * A set contains no key and no certificate. The files in `pki/` are omitted. The CAs that servers share in etcd are
 * deleted, and etcd is compacted and defragmented, so that no page contains them.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { backup } from '../../../src/server/backup/commands.ts'
import { backupFlags } from '../../../src/server/flags/backup.ts'
import { EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { recordingTerminal } from '../../apiserver/backup/terminal.ts'
import { startEtcd } from '../../support/etcd.ts'
import { root } from '../../support/server.ts'
import { createObjects, fixtureKinds } from './fixture-objects.ts'
import { continueKey, type FixturePlace, fixtures, newPlace, startFixtureServer } from './fixture-server.ts'
import { type Everything, readEverything } from './read-everything.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const target = join(fixtures, version)

/** Stores this key in advance, so that the server does not generate a random one. */
async function seed(store: Store): Promise<void> {
  await store.commit({ key: 'meta/continue-key', expected: 0, value: continueKey })
  await store.close()
}

async function writeObjects(place: FixturePlace, etcdServers: readonly string[]): Promise<Everything> {
  const server = await startFixtureServer(place, { etcdServers, kinds: fixtureKinds })
  try {
    await createObjects(server.client)
    return await readEverything(server.client)
  } finally {
    await server.stop()
  }
}

function save(name: string, content: Buffer): void {
  writeFileSync(join(target, `${name}.gz`), gzipSync(content, { level: 9 }))
}

function saveExpected(name: string, everything: Everything): void {
  const text = JSON.stringify(everything, undefined, 1)
  assert.ok(!/-----BEGIN|LS0tLS1CRUdJTi/.test(text), 'a key or a certificate must not be in a fixture')
  save(name, Buffer.from(text))
}

async function writeDataDirectory(): Promise<void> {
  const place = newPlace()
  await seed(await LmdbStore.open({ directory: place.dataDir }))
  saveExpected('data.expected.json', await writeObjects(place, []))
  rmSync(join(place.dataDir, 'pki'), { recursive: true })
  save('data.mdb', readFileSync(join(place.dataDir, 'data.mdb')))
  const file = join(place.directory, 'cluster.backup')
  await backup(parseFlags(backupFlags, [`--to=${file}`, `--data-dir=${place.dataDir}`]), recordingTerminal())
  save('cluster.backup', readFileSync(file))
  place.remove()
}

const retention = { time: Number.MAX_SAFE_INTEGER, bytes: 2 ** 30, withoutValues: ['meta/', 'objects/core/secrets/'] }

/**
 * Deletes the CAs, and records their deletion in the journal without the values. Returns the revision up to which etcd
 * can then be compacted, because the journal needs the later changes.
 */
async function deleteAuthorities(endpoints: readonly string[]): Promise<number> {
  const store = await EtcdStore.open({ endpoints, historyMs: 3_600_000, retention })
  for (const key of ['meta/authority', 'meta/front-proxy-authority']) {
    const { revision: expected } = (await store.get(key))!
    await store.commit({ key, expected, value: undefined })
  }
  const revision = await store.revision()
  await store.journal!.changes('meta/authority', revision, 10)
  await store.close()
  return revision
}

async function writeEtcd(): Promise<void> {
  const place = newPlace()
  const etcd = await startEtcd()
  const etcdctl = async (...args: string[]) => {
    const env = { ...process.env, ETCDCTL_API: '3' }
    return (await promisify(execFile)('etcdctl', ['--endpoints', etcd.endpoints[0]!, ...args], { env })).stdout
  }
  try {
    await seed(await EtcdStore.open({ endpoints: etcd.endpoints, historyMs: 3_600_000 }))
    saveExpected('etcd.expected.json', await writeObjects(place, etcd.endpoints))
    await etcdctl('compact', '--physical', String(await deleteAuthorities(etcd.endpoints)))
    await etcdctl('defrag')
    const snapshot = join(place.directory, 'snapshot.db')
    await etcdctl('snapshot', 'save', snapshot)
    save('etcd.db', readFileSync(snapshot))
  } finally {
    await etcd.stop()
    place.remove()
  }
}

// A set contains the data that its version wrote, and is never overwritten.
assert.ok(!existsSync(target), `${target} exists: remove it first if its version has not been released`)
mkdirSync(target, { recursive: true })
await writeDataDirectory()
await writeEtcd()
console.log(`wrote ${target}`)
