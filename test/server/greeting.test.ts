/** Tests that, for every kind of installation, the first command suggested by `orch up` works without changes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseFlags } from '../../src/base/flags/flags.ts'
import { serverFlags } from '../../src/server/flags/options.ts'
import { greeting, orchctlCommand } from '../../src/server/program/greeting.ts'

test('the startup message contains the orchctl command that works in this installation', (t) => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'orch-greeting-')))
  t.after(() => rmSync(place, { recursive: true, force: true }))
  const installed = (at: string) => {
    const bin = join(place, at, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(join(bin, 'orchctl'), '')
    return join(bin, 'launch.cjs')
  }
  const link = (directory: string, target: string) => {
    mkdirSync(join(place, directory), { recursive: true })
    symlinkSync(join(place, target), join(place, directory, 'orchctl'))
  }
  const checkout = installed('checkout')
  const global = installed('global/lib/node_modules/orch')
  link('global/bin', 'global/lib/node_modules/orch/bin/orchctl')
  const dependency = installed('project/node_modules/orch')
  link('project/node_modules/.bin', 'project/node_modules/orch/bin/orchctl')
  const path = ['/usr/bin', join(place, 'global/bin'), join(place, 'project/node_modules/.bin'), ''].join(':')

  const commandFor = (program: string, directory: string) => orchctlCommand(program, join(place, directory), path)
  assert.equal(commandFor(checkout, 'checkout'), './bin/orchctl')
  assert.equal(commandFor(checkout, 'checkout/bin'), './orchctl')
  assert.equal(commandFor(checkout, '.'), './checkout/bin/orchctl')
  assert.equal(commandFor(checkout, 'project'), join(place, 'checkout/bin/orchctl'))
  assert.equal(commandFor(global, 'project'), 'orchctl')
  assert.equal(orchctlCommand(global, place, '/usr/bin'), './global/lib/node_modules/orch/bin/orchctl')
  assert.equal(commandFor(dependency, 'project'), 'npx orchctl')
  assert.equal(commandFor(dependency, 'checkout'), join(place, 'project/node_modules/orch/bin/orchctl'))
})

test("without an administrator's kubeconfig, the startup message omits commands that need it", () => {
  const options = (adminKubeconfig: string) => parseFlags(serverFlags, [`--admin-kubeconfig=${adminKubeconfig}`])
  assert.match(greeting('https://127.0.0.1:1', options('/tmp/a.kubeconfig'), undefined), /\nTry: .*a\.kubeconfig get/)
  const text = greeting('https://127.0.0.1:1', options(''), undefined)
  assert.doesNotMatch(text, /Try:|administrator|your client config/)
  assert.match(text, /^orch \S+ is serving at https:\/\/127\.0\.0\.1:1\n/)
})
