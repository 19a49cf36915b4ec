// Makes the bundle that users start (dist/), with esbuild: one file per program and per thread.
// `node scripts/bundle.mjs` makes it; `bundleIfStale()` makes it only when a source is newer, in a few milliseconds.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const stamp = join(dist, 'stamp')

const entryPoints = {
  orch: 'src/server/orch.ts',
  orchctl: 'src/cli/orchctl.ts',
  'store-thread': 'src/store/lmdb/thread.ts',
  'aside-thread': 'src/codec/aside-thread.ts',
}

export async function bundleIfStale() {
  if (newestSource() > builtAt()) await bundle()
}

// Made beside dist/ and moved into place, so that another start at the same moment never sees half a bundle.
async function bundle() {
  const { build } = await import('esbuild')
  const fresh = `${dist}.${process.pid}`
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir: fresh,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: ['lmdb'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    minifySyntax: true,
    legalComments: 'none',
    // The errors are thrown, and told by whoever asked for the bundle.
    logLevel: 'silent',
  })
  writeFileSync(join(fresh, 'stamp'), new Date().toISOString())
  const old = `${fresh}.old`
  mkdirSync(dist, { recursive: true })
  renameSync(dist, old)
  renameSync(fresh, dist)
  rmSync(old, { recursive: true, force: true })
}

function builtAt() {
  return statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function newestSource() {
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const own = [join(root, 'package-lock.json'), fileURLToPath(import.meta.url)]
  return [...files, ...own].reduce(
    (newest, file) => Math.max(newest, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0),
    0,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
