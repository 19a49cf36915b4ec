// Makes the bundle that users start (dist/), with esbuild: one file per program and per thread. What a program imports
// dynamically is in the same file, and evaluated when it is imported: a file costs more time to find and open than to
// read. Each is a CommonJS script, whose compiled code can be kept whole (bin/run-bundle.cjs).
// `node scripts/bundle.mjs` makes it; `bundleIfStale(program)` makes it only when a source of that program is not the one
// that the bundle was made of (scripts/stale-bundle.cjs).
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleConsole } from './bundle-console.mjs'
import { isStale } from './stale-bundle.cjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')

// What users import: `orch/<name>` in Node, and for browsers where the name says so. Each has its place in `exports` of
// package.json; its declarations are made by scripts/declare.mjs.
export const libraries = {
  client: 'src/client/library/client.ts',
  'client-browser': 'src/client/library/client-browser.ts',
  testing: 'src/testing/testing.ts',
}

// What is made in one go shares its parts: a class of the client that a test server hands out is the one that users
// import from orch/client, so that `instanceof` holds.
const madeTogether = [['client', 'testing']]

const entryPoints = {
  orch: 'src/server/program/orch.ts',
  orchctl: 'src/tools/cli/program/orchctl.ts',
  'store-thread': 'src/storage/store/lmdb/thread.ts',
  'document-worker-thread': 'src/api/codec/document-worker-thread.ts',
  'simulation-thread': 'src/server/simulation/simulation-thread.ts',
  ...libraries,
}

const programs = {
  orch: ['orch', 'store-thread', 'document-worker-thread', 'simulation-thread', 'console'],
  orchctl: ['orchctl'],
  ...Object.fromEntries(Object.keys(libraries).map((name) => [name, [name]])),
}

export async function bundleIfStale(program) {
  if (isStale(root, program)) await bundle(() => isStale(root, program))
}

// Made beside dist/ and moved into place, so that another start at the same moment never sees half a bundle. Of several
// starts that find it stale, the first to be done moves it.
async function bundle(isWanted = () => true) {
  const { build } = await import('esbuild')
  const fresh = `${dist}.${process.pid}`
  const began = Date.now()
  const inputs = {}
  const makeConsole = async () => {
    inputs.console = await bundleConsole(root, join(fresh, 'console'))
  }
  await Promise.all([
    ...groups().map(async (names) => {
      const { metafile } = await build(optionsOf(names, fresh))
      for (const name of names) inputs[name] = Object.keys(metafile.inputs)
    }),
    makeConsole(),
  ])
  recordSources(fresh, inputs, began)
  if (!isWanted()) {
    rmSync(fresh, { recursive: true, force: true })
    return
  }
  mkdirSync(dist, { recursive: true })
  moveIntoPlace(fresh)
}

function groups() {
  const alone = Object.keys(entryPoints).filter((name) => !madeTogether.flat().includes(name))
  return [...alone.map((name) => [name]), ...madeTogether]
}

function optionsOf(names, outdir) {
  return {
    absWorkingDir: root,
    entryPoints: Object.fromEntries(names.map((name) => [name, entryPoints[name]])),
    outdir,
    bundle: true,
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    // The errors are thrown, and told by whoever asked for the bundle.
    logLevel: 'silent',
    ...(names[0] in libraries ? libraryOptions(names[0]) : scriptOptions(names[0])),
  }
}

// What users import is made of modules, and parts that are loaded when they are needed.
function libraryOptions(name) {
  return { splitting: true, format: 'esm', ...(name.endsWith('-browser') ? forBrowsers : forNode) }
}

function scriptOptions(name) {
  return {
    outExtension: { '.js': '.cjs' },
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    // Everything that is imported is a part of the file, or of Node.
    supported: { 'dynamic-import': false },
    plugins: [nativeOfLmdb],
    define: { 'import.meta.url': '__url', ...(name === 'orch' ? builtFrom() : {}) },
    ...(name in programs
      ? { banner: { js: `${asFunction}${ownUrl}` }, footer: { js: '})' } }
      : { banner: { js: ownUrl } }),
    charset: 'ascii',
  }
}

// The commit, marked if files have changed since. A package that lies in the repository of somebody else is not made from it.
function builtFrom() {
  const of = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  const { stdout } = existsSync(join(root, '.git')) ? spawnSync('git', of, { cwd: root, encoding: 'utf8' }) : {}
  return { __commit: JSON.stringify((stdout ?? '').trim()) }
}

// A program is run by bin/run-bundle.cjs, a thread by Node, which puts the same function around it.
const asFunction = '(function (exports, require, module, __filename) {'
const ownUrl = "'use strict'; const __url = require('node:url').pathToFileURL(__filename).href;"

// Of lmdb only the compiled part stays where it was installed. Its loader looks for that beside itself.
const nativeOfLmdb = {
  name: 'native part of lmdb',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/lmdb\/native\.js$/ }, async ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const parts = text.split('import.meta.url')
      if (parts.length !== 2) throw new Error(`${path} does not find its native part as it did: see scripts/bundle.mjs`)
      return { contents: parts.join("require('node:url').pathToFileURL(require.resolve('lmdb'))") }
    })
  },
}

// The client knows the Protobuf form of built-in kinds, and nothing else of them: their module becomes a table.
const kindsAsTable = {
  name: 'kinds as a table',
  setup({ onLoad }) {
    onLoad({ filter: /src[/\\]client[/\\]library[/\\]protobuf-kinds\.ts$/ }, async ({ path }) => {
      const table = JSON.stringify(await tableOf(path))
      const contents = `import { fromTable } from './schema-table.ts'
        export const protobufKinds = fromTable(JSON.parse(${JSON.stringify(table)}))`
      return { contents, resolveDir: dirname(path) }
    })
  },
}

let sourcesOfTable = []

// The sources are TypeScript, which not every Node that runs this script can read.
async function tableOf(path) {
  const { build } = await import('esbuild')
  const contents = `import { protobufKinds } from './protobuf-kinds.ts'
    import { toTable } from './schema-table.ts'
    export const table = toTable(protobufKinds)`
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: dirname(path), loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    absWorkingDir: root,
    metafile: true,
  })
  const [{ contents: code }] = outputFiles
  sourcesOfTable = Object.keys(metafile.inputs)
  const { table } = await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
  return table
}

const forBrowsers = { platform: 'browser', target: 'es2022' }

const forNode = {
  platform: 'node',
  target: 'node24',
  plugins: [nativeOfLmdb, kindsAsTable],
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

// What each program is made of: its sources with their time and size. A file that has changed since the build began may
// have been read before or after: it is recorded with a time that it never has, so that the next start builds again.
function recordSources(fresh, inputs, began) {
  for (const [program, entries] of Object.entries(programs)) {
    const all = entries.flatMap((name) => inputs[name])
    if (all.includes('src/client/library/protobuf-kinds.ts')) all.push(...sourcesOfTable)
    const sources = all.filter((name) => name.startsWith('src/'))
    const states = [...new Set(sources), ...alwaysSources].map((name) => {
      const { mtimeMs, size } = statSync(join(root, name))
      return [name, mtimeMs < began ? mtimeMs : -1, size]
    })
    writeFileSync(join(fresh, `${program}.sources.json`), JSON.stringify(states))
  }
}

// Packages change with the lock file.
const alwaysSources = ['package-lock.json', 'scripts/bundle.mjs', 'scripts/bundle-console.mjs']

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
