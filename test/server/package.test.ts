/** Tests that the package built by npm contains everything that the README mentions. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { assertNodeFits } from '../../src/testing/node-version.ts'
import { bundleIfStale } from '../support/bundle.ts'
import { root } from '../support/server.ts'

/** Returns the oldest supported Node.js versions. The package includes one of these versions. */
function nodeFloors(): string[] {
  const launch = readFileSync(join(root, 'bin/launch.cjs'), 'utf8')
  return /requires (\S+), (\S+) or newer/.exec(launch)!.slice(1)
}

test('the npm package installs without a warning on the Node version that the README names', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [, named] = /Node (\d+) or newer/.exec(readFileSync(join(root, 'README.md'), 'utf8'))!
  assert.equal(engines.node, `>=${named}`)
})

test('npm runs no scripts when a user installs the package, and therefore prints no warning', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: { [path: string]: { dev?: boolean; hasInstallScript?: boolean } }
  }
  const hooks = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare']
  assert.deepEqual(
    hooks.filter((name) => name in scripts),
    [],
  )
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  assert.ok(installed.length >= 6)
  assert.deepEqual(
    installed.filter(([, { hasInstallScript }]) => hasInstallScript),
    [],
  )
})

test('npm ci prints no warning in a checkout, because package.json has an entry for every install script', () => {
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: { [path: string]: { os?: readonly string[]; hasInstallScript?: boolean } }
  }
  const withScripts = Object.entries(packages)
    .filter(([, { os, hasInstallScript }]) => hasInstallScript && (os === undefined || os.includes('linux')))
    .map(([path]) => path.replace(/^.*node_modules\//, ''))
  assert.deepEqual(Object.keys(allowScripts), withScripts.sort())
})

test('the files of all entry points of the npm package exist', async () => {
  const { exports, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // All packages that every user needs are in the bundle.
  assert.equal(dependencies, undefined)
  const bundled = (await import(join(root, 'scripts/bundle.mjs'))) as { libraries: { [name: string]: string } }
  const files = JSON.stringify(exports).match(/\.\/(?:dist|types)\/[^"]+/g) ?? []
  const made = Object.entries(bundled.libraries).flatMap(([name, source]) => [
    ...[`./dist/${name}.js`, source.replace(/^src/, './types').replace(/\.ts$/, '.d.ts')],
  ])
  assert.deepEqual(files.sort(), made.sort())
})

test('orch/testing rejects unsupported Node versions with one sentence', () => {
  const floors = nodeFloors()
  for (const floor of [...floors, '24.19.0', '26.6.0', '27.0.0']) assertNodeFits(floor)
  for (const old of ['20.20.2', '24.18.0', '25.9.9', '26.5.0', '26.4.9'])
    assert.throws(() => assertNodeFits(old), {
      message: `orch/testing cannot run on Node ${old}: use ${floors.join(', ')} or newer`,
    })
})

test('every link in the README works both in a checkout and in the npm package', () => {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const links = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
    ([, link]) => link!,
  )
  assert.ok(links.length >= 5)
  for (const link of links) {
    assert.ok(existsSync(join(root, link)), link)
    assert.ok(
      files.some((file: string) => link === file || link.startsWith(`${file}/`)),
      `${link} is not in the package`,
    )
  }
})

test('an older Node can parse the code up to the error message that rejects that version', async () => {
  const { transform } = await import('esbuild')
  for (const file of ['bin/launch.cjs', 'bin/run-bundle.cjs', 'scripts/stale-bundle.cjs']) {
    const source = readFileSync(join(root, file), 'utf8')
    const [older, asItIs] = await Promise.all(
      ['node14.18', 'esnext'].map(async (target) => (await transform(source, { target })).code),
    )
    assert.equal(older, asItIs, `${file} has syntax that Node 14 cannot read`)
  }
})

test("the package contains the store's addon for the platform on which it is built", async () => {
  await bundleIfStale('orch')
  assert.ok(existsSync(join(root, `dist/lmdb-${process.platform}-${process.arch}.node`)))
})

test('every bundled dependency has a notice with an accepted license and is in the bill of materials', async () => {
  await bundleIfStale('orch')
  const { acceptedLicenses } = (await import(join(root, 'scripts/notices.mjs'))) as { acceptedLicenses: Set<string> }
  const dist = join(root, 'dist')
  const notices = readFileSync(join(dist, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
  const { components } = JSON.parse(readFileSync(join(dist, 'sbom.cdx.json'), 'utf8')) as {
    components: readonly { name: string; version: string; licenses: readonly { license: { id: string } }[] }[]
  }
  const listed = new Set(components.map(({ name }) => name))
  assert.equal(listed.size, components.length)
  for (const { name, version, licenses } of components) {
    assert.ok(acceptedLicenses.has(licenses[0]!.license.id), `${name} has the license ${licenses[0]!.license.id}`)
    assert.ok(notices.includes(`\n${name} ${version}\nLicense: ${licenses[0]!.license.id}\n`), `${name} has no notice`)
  }
  // The bundler writes the path of each source file into a comment.
  const bundled = readdirSync(dist)
    .filter((file) => /\.c?js$/.test(file))
    .flatMap((file) => [
      ...readFileSync(join(dist, file), 'utf8').matchAll(/^ *\/\/ .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\/.*$/gm),
    ])
    .map(([, name]) => name!)
  assert.ok(bundled.length > 50)
  assert.deepEqual(
    [...new Set(bundled)].filter((name) => !listed.has(name)),
    [],
  )
})
