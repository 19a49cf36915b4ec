/** Tests plugins: programs on the PATH that run as commands but never replace a built-in command. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { orchctl } from '../../support/orchctl.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-plugins-'))
after(() => rmSync(directory, { recursive: true }))

function program(folder: string, name: string, text: string, mode = 0o755): void {
  mkdirSync(join(directory, folder), { recursive: true })
  writeFileSync(join(directory, folder, name), `#!/bin/sh\n${text}\n`, { mode })
}

program('first', 'orchctl-greet', 'echo "greet $*"')
program('first', 'orchctl-greet-big_world', 'echo "big $*"; exit 3')
program('first', 'kubectl-other', 'echo other')
program('first', 'orchctl-get', 'echo never')
program('first', 'orchctl-plain', 'echo plain', 0o644)
program('second', 'kubectl-greet', 'echo second')

const PATH = ['first', 'second', 'nowhere'].map((folder) => join(directory, folder)).join(':')
const run = (...args: string[]) => orchctl(args, { env: { PATH }, directory })

test('a plugin gets the remaining arguments, and orchctl exits with the exit code of the plugin', async () => {
  assert.deepEqual(await run('greet', 'you', '--flag'), { code: 0, stdout: 'greet you --flag\n', stderr: '' })
  assert.deepEqual(await run('greet', 'big-world', '-x'), { code: 3, stdout: 'big -x\n', stderr: '' })
  assert.deepEqual(await run('other'), { code: 0, stdout: 'other\n', stderr: '' })
})

test('a plugin cannot replace a built-in command, must be executable, and must not have a path in its name', async () => {
  assert.doesNotMatch((await run('get', '--help')).stdout, /never/)
  assert.match((await run('plain')).stderr, /unknown command "plain"/)
  assert.match((await run('../first/orchctl-greet')).stderr, /unknown command/)
})

test('orchctl plugin list prints all plugins and warns about hidden plugins', async () => {
  const { code, stdout, stderr } = await run('plugin', 'list', '--name-only')
  assert.equal(code, 1)
  assert.deepEqual(stdout.split('\n').slice(2, -1), [
    'kubectl-other',
    'orchctl-get',
    'orchctl-greet',
    'orchctl-greet-big_world',
    'kubectl-greet',
  ])
  assert.match(stderr, /orchctl-get is never called: get is a built-in command/)
  assert.match(stderr, /second\/kubectl-greet is never called: a plugin with the same name comes first on the PATH/)
})
