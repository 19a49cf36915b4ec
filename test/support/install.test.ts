/**
 * Tests that each program started by a test is either installed by the test runner or part of any Debian system with
 * npm.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { tools } from './install.ts'

const always = ['chrt', 'dpkg-deb', 'git', 'grep', 'mkfifo', 'mount', 'npm', 'sh', 'tar', 'true', 'umount', 'unshare']
const started = /\b(?:execFile|execFileSync|spawn|spawnSync|promisify\(execFile\))\('([^']+)'/g

test('the test runner lists every program that a test starts', () => {
  const knownNames = new Set([...always, ...tools.map(({ command }) => command)])
  const directory = dirname(import.meta.dirname)
  const used = globSync('**/*.ts', { cwd: directory }).flatMap((file) =>
    [...readFileSync(join(directory, file), 'utf8').matchAll(started)].map(
      ([, command = '']) => `${command} in ${file}`,
    ),
  )
  assert.ok(used.some((each) => each.startsWith('etcdctl in ')))
  assert.deepEqual(
    used.filter((each) => !knownNames.has(each.split(' ', 1)[0]!)),
    [],
  )
})
