/**
 * Tests migration between stores. When objects are migrated from the embedded store to etcd and back, only the
 * revisions change. An interrupted migration can be resumed, unrelated keys are preserved, and the server can serve the
 * data that a kube-apiserver has written to etcd.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { check } from '../../../src/server/backup/commands.ts'
import { migrate } from '../../../src/server/backup/migrate.ts'
import { checkFlags, migrateFlags } from '../../../src/server/flags/backup.ts'
import { loadEtcd } from '../../../src/storage/store/etcd/load-etcd.ts'
import { EtcdStore } from '../../../src/storage/store/etcd/store.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import type { Entry, Store } from '../../../src/storage/store/store.ts'
import { type Cluster, startEtcd, startEtcdOn } from '../../support/etcd.ts'
import { startInProcess } from '../../support/in-process.ts'
import { recordingTerminal } from './terminal.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-migrate-'))
const data = join(import.meta.dirname, '../../data')
let cluster: Cluster
before(async () => {
  cluster = await startEtcd()
})
after(async () => {
  await cluster.stop()
  rmSync(directory, { recursive: true, force: true })
})

let places = 0
const newDirectory = () => join(directory, `place-${++places}`)
const newPrefix = () => `/place-${++places}/`

async function migrateBy(...flags: string[]): Promise<string[]> {
  const terminal = recordingTerminal()
  await migrate(parseFlags(migrateFlags, flags), terminal)
  return [...terminal.warnings, ...terminal.lines]
}

const toEtcd = (prefix: string) => [`--etcd-servers=${cluster.endpoints}`, `--etcd-prefix=${prefix}`]
const fromEtcd = (prefix: string) => [`--from-etcd-servers=${cluster.endpoints}`, `--from-etcd-prefix=${prefix}`]

async function entriesOf(store: Store): Promise<Entry[]> {
  const { entries } = await store.list({ prefix: '' })
  await store.close()
  return [...entries]
}

const openEtcd = (prefix: string) => EtcdStore.open({ endpoints: cluster.endpoints, prefix, historyMs: 60_000 })
const bare = (entries: readonly Entry[]) => entries.map(({ key, value }) => [key, Buffer.from(value).toString()])

async function makeStore(count: number): Promise<string> {
  const place = newDirectory()
  const store = await LmdbStore.open({ directory: place })
  const keys = Array.from({ length: count }, (_, i) => `objects/core/configmaps/a/${String(i).padStart(5, '0')}`)
  await Promise.all(
    ['meta/profile', 'objects/core/events/a/e', ...keys].map((key) =>
      store.commit({ key, expected: 0, value: Buffer.from(`${key} `.repeat(3)) }),
    ),
  )
  await store.close()
  return place
}

test('a migration to etcd and back preserves keys and values and increases revisions', async () => {
  const first = await makeStore(1200)
  const prefix = newPrefix()
  const lines = await migrateBy(`--from-data-dir=${first}`, ...toEtcd(prefix))
  assert.match(lines.join('\n'), /copied .* at revision \d+; the copy is at revision \d+/)
  const wanted = await entriesOf(await LmdbStore.open({ directory: first }))
  const highest = Math.max(...wanted.map(({ revision }) => revision))
  const inEtcd = await entriesOf(await openEtcd(prefix))
  assert.deepEqual(bare(inEtcd), bare(wanted))
  assert.ok(inEtcd.every(({ revision }) => revision > highest))
  const second = newDirectory()
  await migrateBy(...fromEtcd(prefix), `--data-dir=${second}`)
  const store = await LmdbStore.open({ directory: second })
  assert.ok(store.revision() > Math.max(...inEtcd.map(({ revision }) => revision)))
  assert.deepEqual(bare(await entriesOf(store)), bare(wanted))
  await assert.rejects(migrateBy(...fromEtcd(prefix), `--data-dir=${second}`), /already contains data/)
  await assert.rejects(migrateBy(`--from-data-dir=${second}`, ...toEtcd(prefix)), /already contains keys under/)
})

test('a store with an interrupted migration cannot be opened, and the migration can be resumed', async () => {
  const source = await makeStore(500)
  const prefix = newPrefix()
  const wanted = await entriesOf(await LmdbStore.open({ directory: source }))
  const revision = Math.max(...wanted.map((entry) => entry.revision))
  const options = { endpoints: cluster.endpoints, prefix }
  const loading = await loadEtcd(options, { id: `${source} ${revision}`, above: 1000 })
  await loading.write(wanted.slice(0, 250))
  await loading.close()
  await assert.rejects(openEtcd(prefix), /is incomplete: a restore or migration into it was interrupted/)
  const lines = await migrateBy(`--from-data-dir=${source}`, ...toEtcd(prefix))
  assert.match(lines.join('\n'), /resuming an interrupted load after 250 entries/)
  assert.deepEqual(bare(await entriesOf(await openEtcd(prefix))), bare(wanted))

  // A migration from a different state starts from the beginning and removes the old state.
  const other = newPrefix()
  const stale = await loadEtcd({ ...options, prefix: other }, { id: 'another', above: 10 })
  await stale.write([{ key: 'objects/left/behind/x', revision: 1, value: Buffer.from('x') }])
  await stale.close()
  await migrateBy(`--from-data-dir=${source}`, ...toEtcd(other))
  assert.deepEqual(bare(await entriesOf(await openEtcd(other))), bare(wanted))
})

test('if two migrations into the same prefix run concurrently, one fails', async () => {
  const options = { endpoints: cluster.endpoints, prefix: newPrefix() }
  const one = await loadEtcd(options, { id: 'x', above: 1 })
  const two = await loadEtcd(options, { id: 'x', above: 1 })
  const entry = { key: 'meta/a', revision: 1, value: Buffer.from('a') }
  await one.write([entry])
  await assert.rejects(two.write([entry]), /another process wrote to .* in etcd in the meantime/)
  await Promise.all([one.close(), two.close()])
})

test('foreign keys under the etcd prefix prevent a migration, and the check command lists them', async () => {
  const prefix = newPrefix()
  const put = { key: Buffer.from(`${prefix}theirs`).toString('base64'), value: Buffer.from('x').toString('base64') }
  await fetch(`${cluster.endpoints[0]}/v3/kv/put`, { method: 'POST', body: JSON.stringify(put) })
  await assert.rejects(migrateBy(`--from-data-dir=${await makeStore(1)}`, ...toEtcd(prefix)), /contains keys .*theirs/)
  const terminal = recordingTerminal()
  assert.equal(await check(parseFlags(checkFlags, toEtcd(prefix)), terminal), false)
  assert.match(terminal.lines.join('\n'), /^theirs .*unknown key/)
})

test('conflicting migration flags are rejected', async () => {
  await assert.rejects(
    migrateBy(`--data-dir=${newDirectory()}`),
    /specify either --from-data-dir or --from-etcd-servers/,
  )
  await assert.rejects(migrateBy('--from-data-dir=x'), /specify either --data-dir or --etcd-servers/)
  const nowhere = newDirectory()
  await assert.rejects(migrateBy(`--from-data-dir=${nowhere}`, ...toEtcd(newPrefix())), /does not contain a store/)
  assert.equal(existsSync(nowhere), false)
})

// biome-ignore lint/suspicious/noExplicitAny: tests read members of any object
type AnyObject = any

/**
 * Removes null and empty values. Go writes null for unset times and empty lists, whereas this server omits these fields
 * or writes empty lists.
 */
function withoutNothing(value: AnyObject): AnyObject {
  if (Array.isArray(value)) return value.map(withoutNothing)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, each]) => each !== null && !(Array.isArray(each) && each.length === 0))
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNothing(each)]))
}

interface KubeData {
  readonly version: EmulatedVersion
  /** The number of objects that the test compares. */
  readonly objects: number
}

const kubeData: readonly KubeData[] = [
  { version: '1.23', objects: 230 },
  { version: '1.36', objects: 246 },
]

/** ComponentStatus is not stored. */
const notCompared = 'v1/componentstatuses'

for (const expected of kubeData)
  test(`data that kube-apiserver ${expected.version} wrote to etcd is served completely`, { timeout: 120_000 }, () =>
    assertServedCompletely(expected),
  )

async function assertServedCompletely({ version, objects: expectedCount }: KubeData) {
  const snapshot = join(directory, `snapshot-${version}.db`)
  writeFileSync(snapshot, gunzipSync(readFileSync(join(data, `kube-etcd-${version}.db.gz`))))
  const restored = join(directory, `kube-${version}`)
  await promisify(execFile)('etcdctl', ['snapshot', 'restore', snapshot, '--data-dir', restored], {
    env: { ...process.env, ETCDCTL_API: '3' },
  })
  const kube = await startEtcdOn(restored)
  let lines: string[] = []
  // Disables the gate, which is on by default since Kubernetes 1.26. Otherwise, the server would delete the Leases of
  // servers that no longer exist.
  const flags = ['--profile=kubernetes', ...(version === '1.23' ? [] : ['--feature-gates=APIServerIdentity=false'])]
  const server = await startInProcess(undefined, flags, async (dataDir) => {
    const from = ['--from-kubernetes', `--emulated-version=${version}`]
    lines = await migrateBy(...from, `--from-etcd-servers=${kube.endpoint}`, `--data-dir=${dataDir}`)
  }).finally(() => kube.stop())
  try {
    assert.deepEqual(
      lines.filter((line) => line.includes('server-internal')),
      [
        `not copied: 2 keys such as /registry/${version === '1.23' ? 'ranges/serviceips' : 'peerserverleases/apiserver-wlv32tlttr4jl3gtroqexyxapa'}: a server-internal record, which orch manages itself`,
      ],
    )
    const types: { [type: string]: AnyObject[] } = JSON.parse(
      gunzipSync(readFileSync(join(data, `kube-objects-${version}.json.gz`))).toString(),
    )
    let compared = 0
    for (const [type, objects] of Object.entries(types).filter(
      ([type]) => version === '1.23' || type !== notCompared,
    )) {
      const { status, body } = await server.client.get(`/${type.startsWith('v1/') ? 'api' : 'apis'}/${type}`)
      assert.equal(status, 200, type)
      const found = new Map<string, AnyObject>(body.items.map((item: AnyObject) => [item.metadata.uid, item]))
      for (const object of objects) {
        const { apiVersion, kind } = object
        const served = { apiVersion, kind, ...found.get(object.metadata.uid) }
        assert.deepEqual(withoutNothing(served), withoutNothing(object), `${type} ${object.metadata.name}`)
        compared++
      }
    }
    assert.equal(compared, expectedCount)
    const changed = await server.client.send('/api/v1/namespaces/default/services/shop', {
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      raw: '{"metadata":{"labels":{"touched":"yes"}}}',
    })
    assert.equal(changed.status, 200, changed.text)
    assert.ok(Number(changed.body.metadata.resourceVersion) > 1_000_000_000)
  } finally {
    await server.stop()
  }
}
