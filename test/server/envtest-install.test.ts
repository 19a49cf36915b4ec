/** Tests `orch envtest install` and the version that the installed programs emulate. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { withVersion } from '../../src/server/program/envtest.ts'
import { installEnvtest } from '../../src/server/program/envtest-install.ts'
import { root } from '../support/server.ts'

const directory = mkdtempSync(join(tmpdir(), "orch-en'v-"))
after(() => rmSync(directory, { recursive: true, force: true }))
const launcher = join(root, 'bin/launch.cjs')

test('orch envtest install writes programs that emulate the requested version', async () => {
  const target = join(directory, 'assets')
  assert.equal(await installEnvtest([`--dir=${target}`, '--version=1.31'], launcher), target)
  const script = readFileSync(join(target, 'kube-apiserver'), 'utf8')
  assert.match(script, /bin\/envtest\/kube-apiserver' '--emulated-version=1\.31' "\$@"/)
  for (const name of ['etcd', 'kube-apiserver']) {
    assert.equal(statSync(join(target, name)).mode & 0o777, 0o755)
    execFileSync('sh', ['-n', join(target, name)])
  }
})

test('orch envtest install fails for a version that cannot be emulated, and in a package without the envtest programs', async () => {
  await assert.rejects(installEnvtest(['--version=1.22'], launcher), /from 1\.23 to 1\.36/)
  await assert.rejects(installEnvtest([], import.meta.filename), /the programs of this package are not in/)
})

test('ORCH_EMULATED_VERSION takes precedence over the version in the programs that envtest install writes', () => {
  assert.deepEqual(withVersion(['--emulated-version=1.31', '--v=2'], '1.29'), ['--emulated-version=1.29', '--v=2'])
  assert.deepEqual(withVersion(['--emulated-version', '1.31', '--v=2'], '1.29'), ['--emulated-version=1.29', '--v=2'])
  for (const unset of [undefined, ''])
    assert.deepEqual(withVersion(['--emulated-version=1.31'], unset), ['--emulated-version=1.31'])
})
