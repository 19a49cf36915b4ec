/**
 * Tests file creation. A file is written completely or not at all, has the requested mode, and replaces an existing
 * file or link instead of writing through it.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createFile, makeDirectory, makePrivateDirectory, replaceFile } from '../../src/base/files/files.ts'

function temporaryDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-files-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const modeOf = (path: string) => statSync(path).mode & 0o777

test('writing a file replaces an existing file or link without following the link', async (t) => {
  const directory = temporaryDirectory(t)
  const victim = join(directory, 'victim')
  const file = join(directory, 'file')
  writeFileSync(victim, 'theirs')
  symlinkSync(victim, file)
  await replaceFile(file, 'ours', 0o600)
  assert.equal(readFileSync(victim, 'utf8'), 'theirs')
  assert.equal(readFileSync(file, 'utf8'), 'ours')
  assert.ok(lstatSync(file).isFile())
  assert.equal(modeOf(file), 0o600)
  chmodSync(file, 0o666)
  await replaceFile(file, 'ours again', 0o600)
  assert.equal(modeOf(file), 0o600)
  assert.deepEqual(readdirSync(directory).sort(), ['file', 'victim'])
})

test('a written file has the requested mode regardless of the umask', async (t) => {
  const directory = temporaryDirectory(t)
  const before = process.umask(0o777)
  try {
    await replaceFile(join(directory, 'secret'), 'x', 0o600)
    await createFile(join(directory, 'open'), 'x', 0o644)
  } finally {
    process.umask(before)
  }
  assert.deepEqual([modeOf(join(directory, 'secret')), modeOf(join(directory, 'open'))], [0o600, 0o644])
})

test('if several processes create a file concurrently, only one of them succeeds, and no temporary files remain', async (t) => {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'file')
  const texts = Array.from({ length: 20 }, (_, i) => `text ${i}`.repeat(100))
  await Promise.all(texts.map((text) => createFile(file, text, 0o600)))
  assert.ok(texts.includes(readFileSync(file, 'utf8')))
  assert.deepEqual(readdirSync(directory), ['file'])
})

test('if a file cannot be renamed, no temporary file remains', async (t) => {
  const directory = temporaryDirectory(t)
  mkdirSync(join(directory, 'taken'))
  await assert.rejects(replaceFile(join(directory, 'taken'), 'x', 0o600), { code: 'EISDIR' })
  assert.deepEqual(readdirSync(directory), ['taken'])
})

test('a directory is created with its parents, and a failure is reported', async (t) => {
  const directory = temporaryDirectory(t)
  const deep = join(directory, 'a/b/c')
  await Promise.all([makeDirectory(deep), makeDirectory(deep), makeDirectory(join(directory, 'a/b/d'))])
  assert.ok(statSync(deep).isDirectory())
  for (const path of ['/proc/x', '/proc/x/y/z']) await assert.rejects(makeDirectory(path), { code: 'ENOENT' })
  writeFileSync(join(directory, 'plain'), '')
  await assert.rejects(makeDirectory(join(directory, 'plain')), /plain is not a directory/)
})

test('concurrent creation of a directory and its parents never fails', async (t) => {
  const directory = temporaryDirectory(t)
  const makers = Array.from({ length: 8 })
  for (let round = 0; round < 100; round++) {
    const deep = join(directory, String(round), 'a/b/c')
    await Promise.all(makers.map((_, maker) => makeDirectory(join(deep, String(maker)))))
  }
})

test('an existing directory is accepted only if it is empty or was created by this program', async (t) => {
  const directory = temporaryDirectory(t)
  const table: readonly (readonly [string, number, readonly string[], number | RegExp])[] = [
    ['empty', 0o755, [], 0o700],
    ['empty and open', 0o777, [], 0o700],
    ['a new disk', 0o755, ['lost+found'], 0o700],
    ['ours', 0o755, ['data'], 0o700],
    ['ours, and others could write', 0o775, ['data'], /it already contained "data"/],
    ['theirs', 0o755, ['data', 'home'], /it already contained "home"/],
    ['private', 0o700, ['data', 'home'], 0o700],
  ]
  for (const [name, mode, entries, expected] of table) {
    const path = join(directory, name)
    mkdirSync(path)
    for (const entry of entries) writeFileSync(join(path, entry), '')
    chmodSync(path, mode)
    if (typeof expected === 'number') await makePrivateDirectory(path, ['data'])
    else await assert.rejects(makePrivateDirectory(path, ['data']), expected)
    assert.equal(modeOf(path), typeof expected === 'number' ? expected : mode, name)
  }
})

test('the server sources write files only with the functions in base/files', () => {
  // New functions that write files belong in base/files/files.ts, which handles file modes and links.
  const writes = 'writeFile|appendFile|createWriteStream|mkdirSync|mkdir\\(|copyFile|openSync'
  const writingFiles = execFileSync('grep', ['-rlE', `\\b(${writes})`, '--include=*.ts', '.'], {
    cwd: join(import.meta.dirname, '../../src'),
    encoding: 'utf8',
  })
  // The following source files may write files without using base/files/files.ts. disk-reservation.ts keeps lmdb's own
  // file open to extend it, and the page check reads that file. orchctl creates a new directory for the files that it
  // passes to an editor or to diff. The audit log is appended to. Rotated audit files, backups and the kubeconfig of a
  // test must be new files. compact-file.ts creates a directory inside the directory of the store. Test servers write
  // to a temporary directory that they create themselves. `orchctl cp`, `cluster-info dump` and `kustomize -o` write to
  // the directory that the user named, and do not follow links. A simulated node writes each volume to its own
  // directory in one step, and reads log files.
  const ofStore = [
    'background-check.ts',
    'compact-file.ts',
    'disk-reservation.ts',
    'page-check-thread.ts',
    'page-check.ts',
  ].map((file) => `./storage/store/lmdb/${file}`)
  // The single executable loads its native addon from an unnamed file.
  const ofExecutable = ['./base/files/program-files.ts']
  const ofTesting = ['./testing/authority-files.ts', './testing/kubeconfigs.ts']
  const appended = ['./apiserver/audit/rotating-file.ts', './apiserver/backup/backup-file.ts']
  const ofCommands = ['cluster-info-dump.ts', 'diff.ts', 'kustomize.ts'].map((file) => `./tools/cli/commands/${file}`)
  const ofClient = ['./tools/cli/changes/editor.ts', ...ofCommands, './tools/cli/streaming/unpack.ts']
  const ofNodes = ['kwok/log-files.ts', 'volumes/atomic-files.ts', 'volumes/pod-volumes.ts'].map(
    (file) => `./cluster/nodes/${file}`,
  )
  const allowedFiles = [
    ...appended,
    './base/files/files.ts',
    ...ofExecutable,
    ...ofClient,
    ...ofNodes,
    ...ofStore,
    ...ofTesting,
  ]
  assert.deepEqual(writingFiles.trim().split('\n').sort(), allowedFiles.sort())
})
