/**
 * Tests the bundle in a checkout: the bundle is rebuilt when a source changes, even with concurrent starts. Also tests
 * the cache of its compiled code.
 */
import assert from 'node:assert/strict'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../support/run-command.ts'
import { root } from '../support/server.ts'

/** Creates a separate checkout with the same dependencies. */
function checkout(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'orch-checkout-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const part of ['bin', 'scripts', 'src', 'package.json', 'package-lock.json'])
    cpSync(join(root, part), join(directory, part), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  return directory
}

function version(directory: string) {
  return runCommand(join(directory, 'bin/orchctl'), ['version', '--client'])
}

/**
 * Changes a source, so that the bundle is stale. Preserves the modification time, as for a file from an archive,
 * because staleness must not depend on the time alone.
 */
function touch(directory: string, name: string): void {
  const file = join(directory, name)
  const { atime, mtime } = statSync(file)
  appendFileSync(file, `\nconsole.debug.bind(console, ${Date.now()})\n`)
  utimesSync(file, atime, mtime)
}

test('if several programs start concurrently with a stale bundle, all of them succeed', {
  timeout: 300_000,
}, async (t) => {
  const directory = checkout(t)
  for (let round = 0; round < 2; round++) {
    const ran = await Promise.all(Array.from({ length: 4 }, () => version(directory)))
    for (const { code, stdout, stderr } of ran) assert.deepEqual([code, stderr, stdout.slice(0, 7)], [0, '', 'Client '])
    touch(directory, 'src/api/model/version.ts')
  }
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('dist.')),
    [],
  )
})

test('compiled code is cached, and the program works without the cache', { timeout: 300_000 }, async (t) => {
  const directory = checkout(t)
  const cacheDirectory = join(directory, 'dist/compiled')
  const assertRuns = async () => {
    const { code, stderr, stdout } = await version(directory)
    assert.deepEqual([code, stderr, stdout.slice(0, 7)], [0, '', 'Client '])
  }
  // A program that fails has called too few functions for a useful cache.
  const failed = await runCommand(join(directory, 'bin/orchctl'), ['version', '--no-such-flag'])
  assert.notEqual(failed.code, 0)
  assert.ok(!existsSync(cacheDirectory))

  await assertRuns()
  const [name, ...others] = readdirSync(cacheDirectory)
  assert.deepEqual([name?.startsWith('orchctl-v'), others], [true, []])
  const cache = join(cacheDirectory, name!)
  const cacheContent = readFileSync(cache)
  utimesSync(cache, 1, 1)
  await assertRuns()
  assert.equal(statSync(cache).mtimeMs, 1000, 'the cache was not used but written again')

  // The program replaces a truncated cache and a cache from a different Node.js version.
  for (const bytes of [
    cacheContent.subarray(0, cacheContent.length - 1),
    Buffer.from('not made by V8'),
    Buffer.alloc(0),
  ]) {
    writeFileSync(cache, bytes)
    await assertRuns()
    assert.ok(statSync(cache).size > 1000)
    assert.notDeepEqual(readFileSync(cache), bytes)
  }
  // The program ignores the cache of another bundle, even if the bundles are similar.
  touch(directory, 'src/api/model/version.ts')
  await assertRuns()
  assert.ok(!existsSync(cache))

  // Without a writable cache, the program works in the same way.
  rmSync(cacheDirectory, { recursive: true })
  writeFileSync(cacheDirectory, '')
  await assertRuns()
})
