/**
 * Tests that this version can read the data stored by earlier versions. Every set in `test/data/stored` is opened as a
 * data directory, as a backup and as an etcd snapshot, and the server's responses are compared with those of the
 * original version. A set is never changed. Each release adds a set with `write-fixtures.ts`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { check, restore } from '../../../src/server/backup/commands.ts'
import { checkFlags, restoreFlags } from '../../../src/server/flags/backup.ts'
import { readMeta } from '../../../src/storage/store/lmdb/page-file.ts'
import { recordingTerminal } from '../../apiserver/backup/terminal.ts'
import { startEtcdOn } from '../../support/etcd.ts'
import { longTest } from '../../support/long.ts'
import { type FixturePlace, type FixtureServer, fixtures, newPlace, startFixtureServer } from './fixture-server.ts'
import { type Everything, readHistories, readList } from './read-everything.ts'

const versions = readdirSync(fixtures)

test('the repository contains data that earlier versions stored', () => assert.ok(versions.includes('0.1.0')))

for (const version of versions)
  describe(`data stored by version ${version}`, () => {
    const open = (name: string) => gunzipSync(readFileSync(join(fixtures, version, `${name}.gz`)))
    const expected = (name: string): Everything => JSON.parse(open(`${name}.expected.json`).toString())
    const places: FixturePlace[] = []
    const place = () => {
      places.push(newPlace())
      return places.at(-1)!
    }
    after(() => {
      for (const each of places) each.remove()
    })

    test('no stored fixture contains a key or a certificate', () => {
      const files = readdirSync(join(fixtures, version)).map((file) => file.replace(/\.gz$/, ''))
      assert.ok(files.length >= 5)
      for (const file of files) assert.ok(!/-----BEGIN|LS0tLS1CRUdJTi/.test(open(file).toString('latin1')), file)
    })

    test('a data directory from an earlier version is served unchanged, with its history', async () => {
      const at = place()
      const file = join(at.dataDir, 'data.mdb')
      writeFileSync(file, open('data.mdb'), { mode: 0o600 })
      assert.equal(pageSizeOf(file), 4096, 'a file with larger pages cannot be opened everywhere')
      await assertSound(`--data-dir=${at.dataDir}`, at)
      const server = await startFixtureServer(at)
      try {
        await assertSame(server, expected('data'))
        await assertHistory(server, expected('data'))
        await assertChangeable(server)
      } finally {
        await server.stop()
      }
    })

    longTest('a backup from an earlier version can be restored and is served unchanged', async () => {
      const at = place()
      const file = join(at.directory, 'cluster.backup')
      writeFileSync(file, open('cluster.backup'))
      rmSync(at.dataDir, { recursive: true })
      const flags = [`--from=${file}`, `--data-dir=${at.dataDir}`]
      await restore(parseFlags(restoreFlags, flags), recordingTerminal())
      const server = await startFixtureServer(at)
      try {
        await assertSame(server, expected('data'))
        await assertChangeable(server)
      } finally {
        await server.stop()
      }
    })

    test('an etcd snapshot from an earlier version is served unchanged, with its history', async () => {
      const at = place()
      const snapshot = join(at.directory, 'snapshot.db')
      const data = join(at.directory, 'etcd')
      writeFileSync(snapshot, open('etcd.db'))
      const env = { ...process.env, ETCDCTL_API: '3' }
      await promisify(execFile)('etcdctl', ['snapshot', 'restore', snapshot, '--data-dir', data], { env })
      const etcd = await startEtcdOn(data)
      try {
        const server = await startFixtureServer(at, { etcdServers: [etcd.endpoint] })
        try {
          await assertSame(server, expected('etcd'))
          await assertHistory(server, expected('etcd'))
          await assertChangeable(server)
        } finally {
          await server.stop()
        }
      } finally {
        await etcd.stop()
      }
    })
  })

function pageSizeOf(file: string): number | undefined {
  const descriptor = openSync(file, 'r')
  try {
    return readMeta(descriptor)?.pageSize
  } finally {
    closeSync(descriptor)
  }
}

async function assertSound(flag: string, { encryptionFlag }: FixturePlace): Promise<void> {
  const terminal = recordingTerminal()
  assert.equal(await check(parseFlags(checkFlags, [flag, encryptionFlag]), terminal), true, terminal.lines.join('\n'))
}

/** Compares the responses byte for byte. */
async function assertSame({ client }: FixtureServer, { lists }: Everything): Promise<void> {
  assert.ok(Object.keys(lists).length > 40)
  for (const [path, text] of Object.entries(lists)) {
    const found = await readList(client, path)
    // Compare the parsed values only if the texts differ, and do not print the texts, because they may be megabytes
    // long.
    if (found !== text) assert.deepEqual(JSON.parse(found), JSON.parse(text), path)
    assert.ok(found === text, `${path} has the same values in another text`)
  }
}

async function assertHistory({ client }: FixtureServer, { histories, pastStates }: Everything): Promise<void> {
  assert.ok(Object.keys(pastStates).length > 5)
  assert.deepEqual(await readHistories(client), { histories, pastStates })
}

/** Asserts that an object of each type can be written. */
async function assertChangeable({ client }: FixtureServer): Promise<void> {
  const paths = [
    '/api/v1/namespaces/fixture/configmaps/large',
    '/api/v1/namespaces/fixture/secrets/encrypted',
    '/apis/example.com/v1/namespaces/fixture/boxes/large',
  ]
  const headers = { 'content-type': 'application/merge-patch+json' }
  for (const path of paths) {
    const raw = JSON.stringify({ metadata: { annotations: { 'example.com/touched': 'yes' } } })
    const { status, text } = await client.send(path, { method: 'PATCH', headers, raw })
    assert.equal(status, 200, `${path}: ${text.slice(0, 500)}`)
  }
}
