// Makes the bundle that users start (dist/), with esbuild: one file per program and per thread, and parts that are loaded
// when they are needed. Each is made for itself: what two have in common would else be many files, and a file costs more
// time to find and open than to read.
// `node scripts/bundle.mjs` makes it; `bundleIfStale(program)` makes it only when a source of that program is not the one
// that the bundle was made of. Every start in a checkout asks: it looks at those files, and at no directory.
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')

// What users import: `orch/<name>` in Node, and for browsers where the name says so. Each has its place in `exports` of
// package.json; its declarations are made by scripts/declare.mjs.
export const libraries = {
  client: 'src/library/client.ts',
  'client-browser': 'src/library/client-browser.ts',
}

const entryPoints = {
  orch: 'src/server/orch.ts',
  orchctl: 'src/cli/orchctl.ts',
  'store-thread': 'src/store/lmdb/thread.ts',
  'document-worker-thread': 'src/codec/document-worker-thread.ts',
  ...libraries,
}

const programs = {
  orch: ['orch', 'store-thread', 'document-worker-thread'],
  orchctl: ['orchctl'],
  ...Object.fromEntries(Object.keys(libraries).map((name) => [name, [name]])),
}

export async function bundleIfStale(program) {
  if (isStale(program)) await bundle(() => isStale(program))
}

// Made beside dist/ and moved into place, so that another start at the same moment never sees half a bundle. Of several
// starts that find it stale, the first to be done moves it.
async function bundle(isWanted = () => true) {
  const { build } = await import('esbuild')
  const fresh = `${dist}.${process.pid}`
  const began = Date.now()
  const metafiles = await Promise.all(
    Object.entries(entryPoints).map(async ([name, entry]) => (await build(optionsOf(name, entry, fresh))).metafile),
  )
  recordSources(fresh, Object.assign({}, ...metafiles.map(({ outputs }) => outputs)), began)
  if (!isWanted()) {
    rmSync(fresh, { recursive: true, force: true })
    return
  }
  mkdirSync(dist, { recursive: true })
  keepParts(dist, fresh)
  moveIntoPlace(fresh)
}

function optionsOf(name, entry, outdir) {
  return {
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    ...(name.endsWith('-browser') ? forBrowsers : forNode),
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    // The errors are thrown, and told by whoever asked for the bundle.
    logLevel: 'silent',
  }
}

// Of lmdb only the compiled part stays where it was installed. Its loader looks for that beside itself.
const nativeOfLmdb = {
  name: 'native part of lmdb',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/lmdb\/native\.js$/ }, async ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const parts = text.split('import.meta.url')
      if (parts.length !== 2) throw new Error(`${path} does not find its native part as it did: see scripts/bundle.mjs`)
      return { contents: parts.join("import.meta.resolve('lmdb')") }
    })
  },
}

const forBrowsers = { platform: 'browser', target: 'es2022' }

const forNode = {
  platform: 'node',
  target: 'node24',
  plugins: [nativeOfLmdb],
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
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

// What each program is made of: its sources with their time and size. A file that has changed since the build began may
// have been read before or after: it is recorded with a time that it never has, so that the next start builds again.
function recordSources(fresh, outputs, began) {
  for (const [program, entries] of Object.entries(programs)) {
    const files = entries.flatMap((name) => reachable(outputs, outputOf(outputs, name)))
    const inputs = files.flatMap((file) => Object.keys(outputs[file].inputs)).filter((name) => name.startsWith('src/'))
    const states = [...new Set(inputs), ...alwaysSources].map((name) => {
      const { mtimeMs, size } = statSync(join(root, name))
      return [name, mtimeMs < began ? mtimeMs : -1, size]
    })
    writeFileSync(join(fresh, `${program}.sources.json`), JSON.stringify(states))
  }
}

// Packages change with the lock file.
const alwaysSources = ['package-lock.json', 'scripts/bundle.mjs']

function outputOf(outputs, name) {
  return Object.keys(outputs).find((file) => outputs[file].entryPoint === entryPoints[name])
}

// The files of the bundle that a file loads, at once or later.
function reachable(outputs, start) {
  const found = new Set([start])
  for (const file of found) for (const { path, external } of outputs[file].imports) if (!external) found.add(path)
  return [...found]
}

function isStale(program) {
  const sources = sourcesOf(program)
  return sources === undefined || sources.some(([name, mtimeMs, size]) => !isSame(`${root}/${name}`, mtimeMs, size))
}

function isSame(file, mtimeMs, size) {
  const state = statSync(file, { throwIfNoEntry: false })
  return state !== undefined && state.mtimeMs === mtimeMs && state.size === size
}

function sourcesOf(program) {
  try {
    return JSON.parse(readFileSync(join(dist, `${program}.sources.json`), 'utf8'))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
