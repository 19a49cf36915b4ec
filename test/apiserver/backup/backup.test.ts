/**
 * Tests backing up a running store and restoring it. The copy contains a consistent state, the revisions of the
 * restored store are higher than all earlier revisions, and invalid input is rejected before anything is written.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { BackupReader, backupFormat, writeBackup } from '../../../src/apiserver/backup/format.ts'
import { parseFlags } from '../../../src/base/flags/flags.ts'
import { startApiServer } from '../../../src/server/assembly/api-server.ts'
import { backup, check, restore } from '../../../src/server/backup/commands.ts'
import { terminalOn } from '../../../src/server/backup/run-command.ts'
import { backupFlags, checkFlags, restoreFlags } from '../../../src/server/flags/backup.ts'
import { serverFlags } from '../../../src/server/flags/options.ts'
import { LmdbStore } from '../../../src/storage/store/lmdb/store.ts'
import type { Entry } from '../../../src/storage/store/store.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { embedded, serve, startInProcess } from '../../support/in-process.ts'
import { root } from '../../support/server.ts'
import { openTestLog } from '../../support/test-log.ts'
import { untilTrue } from '../../support/until.ts'
import { recordingTerminal } from './terminal.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-backup-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const path = '/api/v1/namespaces/default/configmaps'
let files = 0
const newPlace = () => join(directory, `place-${++files}`)

const backupBy = (...flags: string[]) => backup(parseFlags(backupFlags, flags), recordingTerminal())
const restoreBy = (...flags: string[]) => restore(parseFlags(restoreFlags, flags), recordingTerminal())

async function checkBy(...flags: string[]): Promise<{ sound: boolean; lines: string[] }> {
  const terminal = recordingTerminal()
  return { sound: await check(parseFlags(checkFlags, flags), terminal), lines: terminal.lines }
}

async function* pagesOf(entries: readonly Entry[]): AsyncGenerator<readonly Entry[]> {
  yield entries
}

/** Writes a backup file with these entries and this profile. */
async function backupFile(entries: readonly Entry[] = [], header: object = {}): Promise<string> {
  const file = newPlace()
  const profile = { key: 'meta/profile', revision: 2, value: Buffer.from('orch') }
  const about = { format: backupFormat, profile: 'orch', revision: 9, created: '2026-01-01T00:00:00Z', program: '1' }
  const chunks = writeBackup({ ...about, ...header }, pagesOf([profile, ...entries]))
  writeFileSync(file, Buffer.concat(await Array.fromAsync(chunks)))
  return file
}

async function names(client: HttpClient): Promise<string[]> {
  const { body } = await client.get(path)
  return body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}

/** Returns the verb of each change, and whether the change is older than the history. */
async function historyOf(client: HttpClient, name: string): Promise<unknown[]> {
  const spec = { resource: 'configmaps', namespace: 'default', name }
  const { body } = await client.post('/apis/ops.orch.io/v1/objecthistories', { spec })
  return body.status.revisions.map(({ verb, beyond }: { verb?: string; beyond?: boolean }) => [verb, beyond])
}

test('after restoring a backup of a running server, old revisions are expired and clients still trust the server', async () => {
  const old = await startInProcess(undefined, [], embedded)
  const dataDir = join(old.directory, 'data')
  const write = async (name: string) =>
    Number((await old.client.post(path, { metadata: { name } })).body.metadata.resourceVersion)
  await write('kept')
  const file = newPlace()
  const answer = await old.client.send('/backup', { method: 'GET' })
  assert.equal(answer.status, 200)
  const later = await write('later')
  assert.deepEqual(await historyOf(old.client, 'kept'), [['create', undefined]])
  await assert.rejects(backupBy(`--to=${newPlace()}`, `--data-dir=${dataDir}`), /is in use by another process/)
  await assert.rejects(restoreBy(`--from=${await backupFile()}`, `--data-dir=${dataDir}`), /is in use by another/)
  const authority = old.ca
  await old.server.stop()
  await backupBy(`--to=${file}`, `--data-dir=${dataDir}`)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await assert.rejects(backupBy(`--to=${file}`, `--data-dir=${dataDir}`), /already exists/)
  await old.stop()

  let seen = ''
  const restored = await startInProcess(undefined, [], async (data) => {
    const terminal = recordingTerminal()
    await restore(parseFlags(restoreFlags, [`--from=${file}`, `--data-dir=${data}`, '--profile=orch']), terminal)
    seen = terminal.lines.join('\n')
  })
  try {
    assert.match(
      seen,
      /restored [\d,]+ entries, .* sha256 [0-9a-f]{64} of .*; profile orch, Kubernetes 1\.23, revision \d+/,
    )
    assert.equal(restored.ca, authority)
    assert.deepEqual(await names(restored.client), ['kept', 'later'])
    // A backup does not include the history.
    assert.deepEqual(await historyOf(restored.client, 'kept'), [[undefined, true]])
    const watch = await restored.client.get(`${path}?watch=1&resourceVersion=${later}`)
    assert.equal(watch.status === 200 ? watch.body.object.code : watch.status, 410)
    assert.equal((await restored.client.get(`${path}?resourceVersion=${later}&resourceVersionMatch=Exact`)).status, 410)
    const { metadata } = (await restored.client.get(path)).body
    assert.ok(Number(metadata.resourceVersion) > later + 100_000_000, metadata.resourceVersion)
    const made = await restored.client.post(path, { metadata: { name: 'new' } })
    assert.ok(Number(made.body.metadata.resourceVersion) > Number(metadata.resourceVersion))
  } finally {
    await restored.stop()
  }
})

test('creating a backup requires permission for the backup path', async (t) => {
  const server = await serve(t)
  assert.equal((await server.client('bob-token').get('/backup')).status, 403)
  assert.equal((await server.client().send('/backup', { method: 'POST' })).status, 405)
})

test('checking a backup prints a summary of its contents', async () => {
  const object = { key: 'objects/core/configmaps/a/b', revision: 5, value: Buffer.from('x') }
  const custom = { key: 'objects/shop.example.com./carts/a/b', revision: 6, value: Buffer.from('y') }
  const file = await backupFile([object, custom])
  const { sound, lines } = await checkBy(`--backup=${file}`)
  assert.equal(sound, false)
  assert.ok(lines.includes('  1\tconfigmaps'), lines.join('\n'))
  assert.ok(lines.includes('  1\tcarts.shop.example.com'))
  assert.ok(
    lines.some((line) => line.startsWith('objects/core/configmaps/a/b (revision 5): the stored value is truncated')),
  )
})

test('a backup contains the Kubernetes version of its store, and a restore keeps the version', async (t) => {
  const server = await serve(t, ['--emulated-version=1.31'])
  const file = newPlace()
  writeFileSync(file, (await server.client().get('/backup')).bytes)
  const { sound, lines } = await checkBy(`--backup=${file}`)
  assert.equal(sound, true)
  assert.match(lines[0]!, /Kubernetes 1\.31, revision/)
  const dataDir = newPlace()
  await restoreBy(`--from=${file}`, `--data-dir=${dataDir}`)
  const restored = newPlace()
  await backupBy(`--to=${restored}`, `--data-dir=${dataDir}`)
  assert.match((await checkBy(`--backup=${restored}`)).lines[0]!, /Kubernetes 1\.31, revision/)
})

test('checking a malicious backup does not print terminal control characters', async () => {
  const file = await backupFile([], { program: '\u001b[2J', kubernetesVersion: '\u001b]0;x\u0007' })
  let output = ''
  const terminal = terminalOn({ write: (text) => (output += text) }, { write: () => {} })
  assert.equal(await check(parseFlags(checkFlags, [`--backup=${file}`]), terminal), true)
  assert.match(output, /by orch \^\[\[2J; profile orch, Kubernetes \^\[\]0;x\^G/)
})

/** Ways to damage a backup, and the expected errors. */
const spoiled: { readonly [name: string]: { spoil: (bytes: Buffer) => Buffer; told: RegExp } } = {
  truncated: { spoil: (bytes) => bytes.subarray(0, bytes.length - 20), told: /truncated/ },
  'truncated between two frames': {
    spoil: (bytes) => bytes.subarray(0, bytes.lastIndexOf(Buffer.from([3]))),
    told: /truncated|damaged/,
  },
  'a flipped bit': {
    spoil: (bytes) => {
      const copy = Buffer.from(bytes)
      copy[copy.indexOf('meta/profile')]! ^= 1
      return copy
    },
    told: /does not match its checksum/,
  },
  'trailing data': { spoil: (bytes) => Buffer.concat([bytes, Buffer.of(1)]), told: /data after its end/ },
  'another file': { spoil: () => Buffer.from('#!/bin/sh\necho hello\n'), told: /not an orch backup/ },
  nothing: { spoil: () => Buffer.alloc(0), told: /truncated/ },
}

test('restoring a file that is damaged, truncated, in a newer format or not a backup fails without writing anything', async () => {
  const sound = readFileSync(await backupFile())
  for (const [name, { spoil, told }] of Object.entries(spoiled)) {
    const file = newPlace()
    writeFileSync(file, spoil(sound))
    const target = newPlace()
    await assert.rejects(restoreBy(`--from=${file}`, `--data-dir=${target}`), told, name)
    assert.equal(existsSync(target), false, name)
    await assert.rejects(checkBy(`--backup=${file}`), told, name)
  }
  const target = newPlace()
  const newer = await backupFile([], { format: 2, program: '7.0' })
  await assert.rejects(
    restoreBy(`--from=${newer}`, `--data-dir=${target}`),
    /format 2.*use the program version that created it \(7\.0\)/,
  )
  const other = await backupFile([], { profile: 'kubernetes' })
  await assert.rejects(
    restoreBy(`--from=${other}`, `--data-dir=${target}`, '--profile=orch'),
    /profile kubernetes and cannot be restored with the profile orch/,
  )
  await assert.rejects(restoreBy(`--from=${newPlace()}`, `--data-dir=${target}`), /cannot read the backup/)
  assert.equal(existsSync(target), false)
})

test('a change to any byte of a backup is detected', async () => {
  const sound = readFileSync(await backupFile([{ key: 'meta/x', revision: 3, value: Buffer.from('value') }]))
  for (let i = 0; i < sound.length; i++) {
    const bytes = Buffer.from(sound)
    bytes[i]! ^= 0x10
    const read = async () => {
      const reader = await BackupReader.open(chunksOf(bytes))
      for await (const _ of reader.pages());
    }
    await assert.rejects(read(), { name: 'BackupError' }, `byte ${i}`)
  }
})

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let i = 0; i < bytes.length; i += 7) yield bytes.subarray(i, i + 7)
}

test('restoring into a store with data is rejected, and a partially restored store cannot be opened', async () => {
  const file = await backupFile([{ key: 'objects/core/events/a/b', revision: 3, value: Buffer.from('e') }])
  const target = newPlace()
  await restoreBy(`--from=${file}`, `--data-dir=${target}`)
  await assert.rejects(
    restoreBy(`--from=${file}`, `--data-dir=${target}`),
    /already contains data: choose a new directory/,
  )

  const half = newPlace()
  const { loadDirectory } = await import('../../../src/storage/store/lmdb/load-directory.ts')
  const load = { id: 'another load', above: 10 }
  const loading = await loadDirectory(half, load)
  await loading.write([{ key: 'meta/left', revision: 2, value: Buffer.from('x') }])
  await loading.close()
  await assert.rejects(LmdbStore.open({ directory: half }), /is incomplete: a restore or migration into it was interr/)
  const again = await loadDirectory(half, load)
  assert.equal(again.done, 1)
  await again.close()
  // Another restore starts from the beginning and removes all old data.
  await restoreBy(`--from=${file}`, `--data-dir=${half}`)
  const store = await LmdbStore.open({ directory: half })
  const { entries } = await store.list({ prefix: '' })
  await store.close()
  assert.deepEqual(
    entries.map(({ key }) => key),
    ['meta/profile', 'objects/core/events/a/b'],
  )
})

test('backup commands do not crash if standard output is closed, and an incomplete backup is an error', async () => {
  const file = await backupFile()
  const dataDir = newPlace()
  await restoreBy(`--from=${file}`, `--data-dir=${dataDir}`)
  assert.deepEqual(await runUnread('check', `--backup=${file}`), { code: 0, said: '' })
  const { code, said } = await runUnread('backup', `--data-dir=${dataDir}`, '--to=-')
  assert.equal(code, 1)
  assert.match(said, /^orch: the backup is incomplete: cannot write to standard output: .*EPIPE\n$/)
})

/** Runs `orch` with standard output closed. */
async function runUnread(...args: string[]): Promise<{ code: number; said: string }> {
  const child = spawn(join(root, 'bin/orch'), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  return { code, said }
}

test('damaged objects are detected and quarantined without losing other objects', async () => {
  const server = await startInProcess(undefined, [], embedded)
  await server.client.post(path, { metadata: { name: 'sound' } })
  await server.client.post(path, { metadata: { name: 'spoiled' } })
  await server.server.stop()
  const dataDir = join(server.directory, 'data')
  const store = await LmdbStore.open({ directory: dataDir })
  const entry = (await store.get('objects/core/configmaps/default/spoiled'))!
  const value = Buffer.from(entry.value)
  value[value.length - 4]! ^= 1
  await store.commit({ key: entry.key, expected: entry.revision, value })
  await store.close()

  const first = await checkBy(`--data-dir=${dataDir}`)
  assert.equal(first.sound, false)
  assert.match(first.lines.join('\n'), /configmaps\/default\/spoiled \(revision \d+\): .*does not match its checksum/)
  const aside = newPlace()
  const second = await checkBy(`--data-dir=${dataDir}`, `--set-aside=${aside}`)
  assert.equal(second.sound, true, second.lines.join('\n'))
  const reader = await BackupReader.open(chunksOf(readFileSync(aside)))
  const [[held] = []] = await Array.fromAsync(reader.pages())
  assert.equal(held?.key, entry.key)
  assert.equal((await checkBy(`--data-dir=${dataDir}`)).sound, true)
  const left = await LmdbStore.open({ directory: dataDir })
  assert.ok(await left.get('objects/core/configmaps/default/sound'))
  await left.close()
  await server.stop()
})

test('a data directory without its data file is rejected, and can be restored or initialized again', async () => {
  const old = await startInProcess(undefined, [], embedded)
  const dataDir = join(old.directory, 'data')
  const dataFile = join(dataDir, 'data.mdb')
  const key = 'objects/core/configmaps/default/kept'
  await old.client.post(path, { metadata: { name: 'kept' } })
  await old.server.stop()
  const file = newPlace()
  await backupBy(`--to=${file}`, `--data-dir=${dataDir}`)
  const start = async () => {
    const options = parseFlags(serverFlags, ['--secure-port=0', '--admin-kubeconfig=', `--data-dir=${dataDir}`])
    await (await startApiServer(options, { log: openTestLog() })).stop()
    const store = await LmdbStore.open({ directory: dataDir })
    const found = await store.get(key)
    await store.close()
    return found
  }
  rmSync(dataFile)
  const refusal = {
    name: 'StoreError',
    message: /no data file \(data\.mdb\).*orch restore --from.*move the directory pki away/,
  }
  await assert.rejects(start(), refusal)
  writeFileSync(dataFile, '')
  await assert.rejects(start(), refusal)
  assert.equal(statSync(dataFile).size, 0)
  await restoreBy(`--from=${file}`, `--data-dir=${dataDir}`)
  assert.ok(await start())
  rmSync(dataFile)
  renameSync(join(dataDir, 'pki'), newPlace())
  assert.equal(await start(), undefined)
  await old.stop()
})

test('the server creates scheduled backups and keeps only the newest ones', async (t) => {
  const backups = newPlace()
  const server = await serve(t, [`--backup-dir=${backups}`, '--backup-interval=1s', '--backup-keep=2'])
  const made = () => (existsSync(backups) ? readdirSync(backups) : [])
  await untilTrue(async () => made().filter((name) => name.endsWith('.backup')).length > 0)
  writeFileSync(join(backups, 'notes.txt'), 'mine')
  const first = made().find((name) => name.endsWith('.backup'))!
  await untilTrue(async () => !made().includes(first))
  await untilTrue(async () => made().filter((name) => name.endsWith('.backup')).length === 2)
  assert.ok(made().includes('notes.txt'))
  assert.match(server.output(), /backup completed/)
  assert.equal(
    (await checkBy(`--backup=${join(backups, made().filter((name) => name.endsWith('.backup'))[0]!)}`)).sound,
    true,
  )
})

test('the first scheduled backup is created at startup unless a recent backup exists', async (t) => {
  const backups = newPlace()
  const ours = () => (existsSync(backups) ? readdirSync(backups) : []).filter((name) => name.endsWith('.backup'))
  const flags = [`--backup-dir=${backups}`, '--backup-interval=1h']
  const server = await serve(t, flags)
  await untilTrue(async () => ours().length === 1)
  await server.restart()
  // Shutdown waits for a running backup.
  await server.restart()
  assert.equal(ours().length, 1)
  renameSync(join(backups, ours()[0]!), join(backups, 'orch-20200101T000000.000Z.backup'))
  await server.restart()
  await untilTrue(async () => ours().length === 2)
})

test('backups with a date in the future are treated as the oldest backups', async (t) => {
  const backups = newPlace()
  mkdirSync(backups, { mode: 0o700 })
  const future = ['orch-20990101T000000.000Z.backup', 'orch-20990101T010000.000Z.backup']
  for (const name of future) writeFileSync(join(backups, name), '')
  const ours = () => readdirSync(backups).sort()
  const server = await serve(t, [`--backup-dir=${backups}`, '--backup-interval=1h', '--backup-keep=2'])
  await untilTrue(async () => server.output().includes('backup completed'))
  // Stopping the server waits until the old backups have been deleted.
  await server.stop()
  const [made, ...others] = ours()
  assert.notEqual(made, future[0])
  assert.deepEqual(others, [future[1]])
  await server.restart()
  await server.stop()
  assert.deepEqual(ours(), [made, future[1]], 'a restart adds none')
})

test('partial backups of a killed server are deleted unless they may still be in use', async (t) => {
  const backups = newPlace()
  mkdirSync(backups, { mode: 0o700 })
  const half = 'orch-20260101T000000.000Z.backup.0123456789ab.tmp'
  const young = 'orch-20260101T000000.000Z.backup.ba9876543210.tmp'
  const other = 'notes.tmp'
  for (const name of [half, young, other]) writeFileSync(join(backups, name), 'half')
  const old = new Date(Date.now() - 3_600_000)
  for (const name of [half, other]) utimesSync(join(backups, name), old, old)
  const server = await serve(t, [`--backup-dir=${backups}`, '--backup-interval=1h'])
  await untilTrue(async () => server.output().includes('backup completed'))
  await server.stop()
  const left = readdirSync(backups)
  assert.deepEqual(
    [half, young, other].map((name) => left.includes(name)),
    [false, true, true],
  )
})

test('a failed scheduled backup is reported until the next successful backup', async (t) => {
  const place = newPlace()
  writeFileSync(place, 'a file where a directory should be')
  const server = await serve(t, [`--backup-dir=${place}`, '--backup-interval=1s'])
  const ready = async () => (await server.client().get('/readyz?verbose')).text
  await untilTrue(async () => (await ready()).includes('the last backup failed'))
  rmSync(place)
  await untilTrue(async () => !(await ready()).includes('the last backup failed'))
})
