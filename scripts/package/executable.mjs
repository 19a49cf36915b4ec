// Builds the single executable for this machine's architecture. It contains Node, both programs, their threads, the web
// console, the documentation and lmdb's native addon. The name under which it is started selects the program, `orchctl` or `orch`.
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { bundleIfStale, lmdbAddon } from '../bundle.mjs'

const root = join(import.meta.dirname, '../..')
const dist = join(root, 'dist')
const nodePackage = `node-linux-${process.arch}`
/** The entry point of the program and of its threads. Also an asset (src/base/files/program-files.ts). */
const launcherName = 'executable.cjs'

/** Builds the executable and the link `orchctl` in a directory. Returns the path of the executable. */
export async function packageExecutable(directory) {
  await bundleIfStale('orch')
  await bundleIfStale('orchctl')
  await import('../site/run.ts')
  mkdirSync(directory, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'orch-package-'))
  try {
    const node = strippedNode(work)
    await bundleLauncher(join(work, launcherName))
    const assets = { ...programAssets(), [launcherName]: join(work, launcherName), 'lmdb.node': lmdbAddon() }
    const buildId = join(work, 'build-id')
    writeFileSync(buildId, idOf(node, assets))
    // The executable contains the path of its main file, which must not depend on the temporary directory.
    const files = { main: launcherName, executable: 'node', output: 'orch', assets: { ...assets, 'build-id': buildId } }
    // The young generation has the same size as in bin/orch.
    const execArgv = ['--min-semi-space-size=16', '--max-semi-space-size=16']
    const settings = { execArgv, execArgvExtension: 'none' }
    const options = { ...files, ...settings, disableExperimentalSEAWarning: true }
    writeFileSync(join(work, 'sea.json'), JSON.stringify(options))
    execFileSync(pinnedNode(), ['--build-sea', 'sea.json'], { cwd: work, stdio: ['ignore', 'ignore', 'inherit'] })
    const executable = join(directory, 'orch')
    rmSync(executable, { force: true })
    copyFileSync(join(work, 'orch'), executable)
    rmSync(join(directory, 'orchctl'), { force: true })
    symlinkSync('orch', join(directory, 'orchctl'))
    return executable
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function pinnedNode() {
  return join(root, 'node_modules', nodePackage, 'bin', 'node')
}

/** Returns a copy of Node without debug symbols, which take a fifth of its size. */
function strippedNode(work) {
  const node = join(work, 'node')
  copyFileSync(pinnedNode(), node)
  const { status, error } = spawnSync('strip', [node], { stdio: 'inherit' })
  if (status !== 0)
    throw new Error(`cannot run strip, from the package binutils: ${error?.message ?? `exit code ${status}`}`)
  return node
}

async function bundleLauncher(outfile) {
  const entryPoints = [join(root, 'bin', 'executable.cjs')]
  await build({
    entryPoints,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    charset: 'ascii',
  })
}

/** Returns the code of programs and threads, and the files of the console and the documentation, by asset name. */
function programAssets() {
  const code = readdirSync(dist).filter((name) => name.endsWith('.cjs'))
  const console = readdirSync(join(dist, 'console')).map((name) => `console/${name}`)
  const notices = ['THIRD-PARTY-NOTICES.txt']
  const inDist = [...code, ...console, ...notices].sort().map((name) => [name, join(dist, name)])
  const site = readdirSync(join(root, 'site'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries([...inDist, ...site.sort().map((path) => [relative(dist, path), path])])
}

function idOf(node, assets) {
  const hash = createHash('sha256')
  for (const file of [node, ...Object.values(assets)]) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 32)
}
