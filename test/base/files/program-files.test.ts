/** Tests how the program finds its native addon in an installed package. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { loadAddon } from '../../../src/base/files/program-files.ts'

const platform = `${process.platform}-${process.arch}`

/** Returns the directory of an installed package and the URL of a file in its `dist/`. */
function installedPackage(t: TestContext): { readonly directory: string; readonly importer: string } {
  const directory = mkdtempSync(join(tmpdir(), 'orch-addon-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(join(directory, 'dist'))
  return { directory, importer: pathToFileURL(join(directory, 'dist/orch.cjs')).href }
}

test('if there is no addon for the platform, the error names the optional dependency', (t) => {
  const { importer } = installedPackage(t)
  assert.throws(() => loadAddon(importer), {
    message: `cannot load the embedded store: install the package with its optional dependencies, which include @lmdb/lmdb-${platform}`,
  })
})

test('if the addon in the package cannot be loaded, the addon that npm installed is used instead', (t) => {
  const { directory, importer } = installedPackage(t)
  writeFileSync(join(directory, `dist/lmdb-${platform}.node`), 'not a library')
  assert.throws(() => loadAddon(importer), /^Error: cannot load the embedded store: .*lmdb-\w+-\w+\.node: /)
  // Node.js also loads a directory with an `index.js` in place of an addon file, so this test needs no second addon.
  const installed = join(directory, `node_modules/@lmdb/lmdb-${platform}/node.napi.glibc.node`)
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'index.js'), 'module.exports = { name: "installed" }')
  assert.deepEqual(loadAddon(importer), { name: 'installed' })
})
