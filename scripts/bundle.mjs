// Builds the bundle that users start (dist/) with esbuild: one file per program and thread. Dynamic imports are functions
// in the same file (scripts/join-chunks.mjs), because finding and opening a file takes longer than reading it. Each file
// is a CommonJS script, whose compiled code can be cached as a whole (bin/run-bundle.cjs).
// `node scripts/bundle.mjs` builds it. `bundleIfStale(program)` builds it only if a source of that program has changed
// since the last build (scripts/stale-bundle.cjs).
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleConsole } from './bundle-console.mjs'
import { inOneChunk, joinChunks } from './join-chunks.mjs'
import { writeNotices } from './notices.mjs'
import { isStale } from './stale-bundle.cjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')

// Libraries that users import as `orch/<name>`, in Node or, if the name says so, in browsers. Each has an entry in
// `exports` in package.json. scripts/declare.mjs creates their type declarations.
export const libraries = {
  client: 'src/client/library/client.ts',
  'client-browser': 'src/client/library/client-browser.ts',
  testing: 'src/testing/testing.ts',
}

// Libraries that are built together share their modules, so that `instanceof` works: a test server's client class is
// the same as that of orch/client.
const madeTogether = [['client', 'testing']]

const entryPoints = {
  orch: 'src/server/program/orch.ts',
  orchctl: 'src/tools/cli/program/orchctl.ts',
  'store-thread': 'src/storage/store/lmdb/thread.ts',
  'page-check-thread': 'src/storage/store/lmdb/page-check-thread.ts',
  'document-worker-thread': 'src/api/codec/document-worker-thread.ts',
  'simulation-thread': 'src/server/simulation/simulation-thread.ts',
  ...libraries,
}

const programs = {
  orch: ['orch', 'store-thread', 'page-check-thread', 'document-worker-thread', 'simulation-thread', 'console'],
  orchctl: ['orchctl'],
  ...Object.fromEntries(Object.keys(libraries).map((name) => [name, [name]])),
}

export async function bundleIfStale(program) {
  if (isStale(root, program)) await bundle(() => isStale(root, program))
}

// The bundle is built next to dist/ and then renamed, so that a concurrent start never sees a partial bundle. If
// several starts find the bundle stale, the first to finish replaces it.
async function bundle(isWanted = () => true) {
  const fresh = `${dist}.${process.pid}`
  const discard = () => rmSync(fresh, { recursive: true, force: true })
  // A signal during the build ends the process without running the code below.
  process.once('exit', discard)
  try {
    await buildInto(fresh)
    mkdirSync(dist, { recursive: true })
    if (isWanted()) moveIntoPlace(fresh)
  } finally {
    process.off('exit', discard)
    discard()
  }
}

async function buildInto(fresh) {
  const { build } = await import('esbuild')
  const began = Date.now()
  const inputs = {}
  const makeConsole = async () => {
    inputs.console = await bundleConsole(root, join(fresh, 'console'))
  }
  await Promise.all([
    ...groups().map(async (names) => {
      const built =
        names[0] in libraries ? await build(libraryOptions(names, fresh)) : await buildScript(names[0], fresh)
      for (const name of names) inputs[name] = Object.keys(built.metafile.inputs)
    }),
    makeConsole(),
  ])
  const addon = lmdbAddon()
  if (addon !== undefined) copyFileSync(addon, join(fresh, `lmdb-${process.platform}-${process.arch}.node`))
  recordSources(fresh, inputs, began)
  writeNotices(root, Object.values(inputs).flat(), fresh)
}

function groups() {
  const alone = Object.keys(entryPoints).filter((name) => !madeTogether.flat().includes(name))
  return [...alone.map((name) => [name]), ...madeTogether]
}

function commonOptions(names, outdir) {
  return {
    absWorkingDir: root,
    entryPoints: Object.fromEntries(names.map((name) => [name, entryPoints[name]])),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    minifySyntax: true,
    legalComments: 'none',
    metafile: true,
    // Errors are thrown and reported by the caller.
    logLevel: 'silent',
  }
}

// Libraries are ES modules whose parts are loaded on demand.
function libraryOptions(names, outdir) {
  return { ...commonOptions(names, outdir), ...(names[0].endsWith('-browser') ? forBrowsers : forNode) }
}

// All imports of a script are either part of the file or part of Node.
async function buildScript(name, outdir) {
  const { build, transform } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    ...commonOptions([name], outdir),
    write: false,
    platform: 'node',
    target: 'node24',
    plugins: [nativeOfLmdb, inOneChunk(join(root, entryPoints[name]))],
    define: { 'import.meta.url': '__url', ...(name === 'orch' ? builtFrom() : {}) },
  })
  // Every start reads the whole file, and white space and comments were a quarter of it. Names and lines of moderate
  // length keep stack traces useful.
  const { code } = await transform(joinChunks(outputFiles, `${name}.js`), { minifyWhitespace: true, lineLimit: 160 })
  const script = `${ownUrl}\n${code}`
  mkdirSync(outdir, { recursive: true })
  writeFileSync(join(outdir, `${name}.cjs`), `${asFunction}${script}})\n`)
  return { metafile }
}

// Returns the commit, marked if files have changed. A package inside another project's repository is not built from
// that repository.
function builtFrom() {
  const of = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*']
  const { stdout } = existsSync(join(root, '.git')) ? spawnSync('git', of, { cwd: root, encoding: 'utf8' }) : {}
  return { __commit: JSON.stringify((stdout ?? '').trim()) }
}

// bin/run-bundle.cjs calls this function, which has the same parameters as Node's own function of a CommonJS module.
const asFunction = '(function (exports, require, module, __filename) {'
const ownUrl = "'use strict'; const __url = require('node:url').pathToFileURL(__filename).href;"

// lmdb's JavaScript is part of the bundle, and its native addon a file of its own (src/base/files/program-files.ts).
// lmdb would look for the addon in its own directory, which users do not install.
const nativeOfLmdb = {
  name: 'native addon of lmdb',
  setup({ onLoad }) {
    onLoad({ filter: /node_modules\/lmdb\/native\.js$/ }, async ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const [, head, body] =
        /^([\s\S]*)^let dirName = .*\nexport let nativeAddon = loadNAPI\(dirName\);$([\s\S]*)/m.exec(text) ?? []
      const own = head?.replace(/^import loadNAPI from .*\n/m, '')
      if (body === undefined || own === head)
        throw new Error(`${path} does not load its addon as it did: see scripts/bundle.mjs`)
      const files = JSON.stringify(fileURLToPath(new URL('../src/base/files/program-files.ts', import.meta.url)))
      const load = 'export let nativeAddon = loadAddon(import.meta.url);'
      return { contents: `import { loadAddon } from ${files};${own}${load}${body}` }
    })
  },
}

/** Returns the addon for this platform, or undefined if npm installed none. Node loads the variant with the N-API. */
export function lmdbAddon() {
  const files = join(root, 'node_modules', '@lmdb', `lmdb-${process.platform}-${process.arch}`)
  return ['node.napi.glibc.node', 'node.napi.node'].map((name) => join(files, name)).find(existsSync)
}

// The client needs only the Protobuf schema of built-in kinds, so their module is replaced with a table.
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

// The sources are TypeScript, which not every Node version that runs this script supports.
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

// A concurrent start may be doing the same. If so, dist/ may be missing for a moment (ENOENT), or may already exist
// again with an equally new bundle (ENOTEMPTY). In both cases, a bundle exists once both starts are done.
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

// Records the sources of each program with their times and sizes. A file that changed after the build began may have
// been read before or after the change. Such a file is recorded with an impossible time, so that the next start builds
// again.
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

// Packages change only together with the lock file.
const alwaysSources = ['package-lock.json', 'scripts/bundle.mjs', 'scripts/bundle-console.mjs', 'scripts/notices.mjs']

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
