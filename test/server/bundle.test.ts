/** The bundle in a checkout: made when a source is another, whoever else starts or runs from it at that moment. */
import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runCommand } from '../tools/run-command.ts'
import { root } from '../tools/server.ts'

/** A checkout of its own, with the same dependencies. */
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
 * Changes a source, so that the bundle is stale and some of its parts get other names. Its time stays, as that of a file
 * does which comes out of an archive: being newer than the bundle is not what counts.
 */
function touch(directory: string, name: string): void {
  const file = join(directory, name)
  const { atime, mtime } = statSync(file)
  appendFileSync(file, `\nconsole.debug.bind(console, ${Date.now()})\n`)
  utimesSync(file, atime, mtime)
}

test('programs that start at once on a stale bundle all start', { timeout: 300_000 }, async (t) => {
  const directory = checkout(t)
  for (let round = 0; round < 2; round++) {
    const ran = await Promise.all(Array.from({ length: 4 }, () => version(directory)))
    for (const { code, stdout, stderr } of ran) assert.deepEqual([code, stderr, stdout.slice(0, 7)], [0, '', 'Client '])
    touch(directory, 'src/model/version.ts')
  }
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.startsWith('dist.')),
    [],
  )
})

test('what runs can still load its parts when the bundle is made again', { timeout: 300_000 }, async (t) => {
  const directory = checkout(t)
  await version(directory)
  const before = readdirSync(join(directory, 'dist'))
  touch(directory, 'src/telemetry/exposition.ts')
  touch(directory, 'src/codec/yaml.ts')
  await version(directory)
  const after = readdirSync(join(directory, 'dist'))
  assert.ok(
    after.some((name) => !before.includes(name)),
    'the change gave no part another name',
  )
  assert.deepEqual(
    before.filter((name) => !after.includes(name)),
    [],
  )
})
