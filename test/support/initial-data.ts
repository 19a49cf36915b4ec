/**
 * The initial content of every server (default roles, namespaces, API services) as a file of the embedded store.
 * Otherwise, servers in separate processes would spend a third of their first start writing this content. The file is
 * created once per test process. As in `initial-store.ts`, keys and all other entries under `meta/` are omitted, so
 * that no two servers share a secret.
 */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { startApiServer } from '../../src/server/assembly/api-server.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { LmdbStore } from '../../src/storage/store/lmdb/store.ts'
import { MemoryStore } from '../../src/storage/store/memory.ts'
import { openTestLog } from './test-log.ts'

const fileName = 'data.mdb'
let begun: Promise<Uint8Array> | undefined

/** Writes the file to the path where a server with unchanged initial content finds it during its first start. */
export async function writeInitialData(dataDirectory: string): Promise<void> {
  begun ??= makeBeginning()
  const file = await begun
  await mkdir(dataDirectory, { mode: 0o700 })
  await writeFile(join(dataDirectory, fileName), file, { mode: 0o600 })
}

async function makeBeginning(): Promise<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'orch-test-'))
  try {
    const objects = await beginInMemory(join(directory, 'memory'))
    await keepOnDisk(objects, join(directory, 'disk'))
    return await readFile(join(directory, 'disk', fileName))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Returns a store with the content of a server after its start. */
async function beginInMemory(dataDirectory: string): Promise<MemoryStore> {
  const options = parseFlags(serverFlags, ['--secure-port=0', `--data-dir=${dataDirectory}`, '--admin-kubeconfig='])
  const store = new MemoryStore()
  const server = await startApiServer(options, { log: openTestLog(), store })
  await server.stop()
  return store.reopened()
}

async function keepOnDisk(objects: MemoryStore, directory: string): Promise<void> {
  const { entries: all } = await objects.list({ prefix: '' })
  // Omits keys, because each server has its own keys.
  const entries = all.filter(({ key }) => !key.startsWith('meta/'))
  const store = await LmdbStore.open({ directory })
  // The entries are written in batches, because writing them all at once would make the file several times as large.
  for (let i = 0; i < entries.length; i += 20) {
    const some = entries.slice(i, i + 20)
    const commits = await Promise.all(some.map(({ key, value }) => store.commit({ key, expected: 0, value })))
    assert.ok(commits.every(({ outcome }) => outcome === 'committed'))
  }
  await store.close()
}
