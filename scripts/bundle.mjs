// Makes the bundle that users start (dist/), with esbuild: one file per program and per thread.
// `node scripts/bundle.mjs` makes it; `bundleIfStale()` makes it only when a source is newer, in a few milliseconds.
import { existsSync, linkSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
  const isStale = () => newestSource() > builtAt()
  if (isStale()) await bundle(isStale)
}

// Made beside dist/ and moved into place, so that another start at the same moment never sees half a bundle. Of several
// starts that find it stale, the first to be done moves it.
async function bundle(isWanted = () => true) {
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
  if (!isWanted()) {
    rmSync(fresh, { recursive: true, force: true })
    return
  }
  mkdirSync(dist, { recursive: true })
  keepParts(dist, fresh)
  moveIntoPlace(fresh)
}

// Another start may do the same in between: then dist/ is not there for a moment (ENOENT), or is there again, with a
// bundle that is as new as this one (ENOTEMPTY). Either way there is one when both are done.
function moveIntoPlace(fresh) {
  const old = `${fresh}.old`
  try {
    renameSync(dist, old)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  try {
    renameSync(fresh, dist)
  } catch (error) {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    rmSync(fresh, { recursive: true, force: true })
  }
  rmSync(old, { recursive: true, force: true })
}

const keptMs = 24 * 60 * 60 * 1000

// A program that was started from the bundle before loads some parts of it later. Their names hold a hash of their
// content, so those of two bundles can lie side by side; they stay for a day.
function keepParts(from, to) {
  for (const name of readdirSync(from)) if (/-[A-Z0-9]{8}\.js$/.test(name)) keepPart(join(from, name), join(to, name))
}

function keepPart(part, kept) {
  try {
    if (!existsSync(kept) && Date.now() - statSync(part).mtimeMs <= keptMs) linkSync(part, kept)
  } catch (error) {
    // Another start has moved its directory away meanwhile, and kept what there was to keep.
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error
  }
}

function builtAt() {
  return statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

// Every start in a checkout passes here: only texts and times, no objects for files and their paths.
function newestSource() {
  const sources = readdirSync(join(root, 'src'), { recursive: true }).filter((name) => name.includes('.'))
  const files = [...sources.map((name) => `${root}/src/${name}`), `${root}/package-lock.json`, import.meta.filename]
  let newest = 0
  for (const file of files) newest = Math.max(newest, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0)
  return newest
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
