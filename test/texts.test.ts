/** Tests the tools for this repository's texts: the sample for readers, and the hook for commit subjects. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from './support/server.ts'

function run(command: string, args: readonly string[]) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8', timeout: 60_000 })
}

test('the same seed always draws the same sample, and different seeds draw different samples', () => {
  const draw = (seed: number) => {
    const { status, stdout, stderr } = run(process.execPath, [
      'scripts/sample-texts.ts',
      `--seed=${seed}`,
      '--category=descriptions',
    ])
    assert.equal(status, 0, stderr)
    return stdout.split('\n').filter((line) => line.startsWith('src/'))
  }
  const first = draw(1)
  assert.equal(first.length, 30)
  assert.deepEqual(draw(1), first)
  assert.notDeepEqual(draw(2), first)
})

test('a sample of texts contains placeholders instead of code', () => {
  const { status, stdout, stderr } = run(process.execPath, [
    'scripts/sample-texts.ts',
    '--category=errors',
    '--count=2000',
  ])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /unknown flag --<name>/)
  assert.doesNotMatch(stdout, /\$\{/)
})

test('the commit hook rejects a subject with more than 72 characters', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-hook-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const statusOf = (message: string) => {
    const file = join(directory, 'message')
    writeFileSync(file, message)
    return run('scripts/hooks/commit-msg', [file]).status
  }
  assert.equal(statusOf(`${'x'.repeat(72)}\n\n${'y'.repeat(200)}\n`), 0)
  assert.equal(statusOf(`${'x'.repeat(73)}\n`), 1)
})
