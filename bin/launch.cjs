// Starts one of the programs of this package (`launch.cjs orch|orchctl ...`) from its bundle in dist/.
// Promises: an unfit Node, or a checkout that is not installed, is refused with a sentence that says what to do; in a
// checkout (there is a src/) the bundle is always that of the sources. Plain JavaScript, so that any Node can at least
// read this far; CommonJS, as Node's loader of ECMAScript modules takes a sixth of the time of a short command.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { runBundle } = require('./run-bundle.cjs')

const root = join(__dirname, '..')
const dist = join(root, 'dist')
const program = process.argv.splice(2, 1)[0]

// The floors below carry the fixes for dropped headers (CVE-2026-58044) and HTTP/2 faults that the server relies on.
const [major, minor, patch] = process.versions.node.split('.').map(Number)
const fits = (floor) => minor > floor[0] || (minor === floor[0] && patch >= floor[1])
const fit = major === 24 ? fits([18, 1]) : major === 26 ? fits([5, 1]) : major > 26
if (!fit) {
  console.error(`${program}: Node ${process.versions.node} is too old: 24.18.1, 26.5.1 or newer is needed.`)
  console.error('On Linux (x64, arm64) the right one is installed by `npm ci`; elsewhere install it from nodejs.org.')
  process.exit(1)
}

// A program that is told to stop before it has anything to stop has done so; from then on it handles signals itself.
const leave = () => process.exit(0)
const signals = program === 'orch' ? ['SIGINT', 'SIGTERM'] : []
for (const signal of signals) process.on(signal, leave)

start()

async function start() {
  if (existsSync(join(root, 'src'))) await bundleIfStale()
  // The threads of the server look for their compiled form here; orchctl starts other programs, which must not.
  if (program === 'orch') process.env.NODE_COMPILE_CACHE = join(dist, 'compiled')
  runBundle(join(dist, `${program}.cjs`), { cacheFile: join(dist, 'compiled', cacheName()) })
  for (const signal of signals) process.off(signal, leave)
}

// A server uses far more of its program than any other command does, and so has compiled code of its own.
function cacheName() {
  const command = process.argv[2]
  return program === 'orch' && (command === 'up' || command === 'apiserver') ? `orch-${command}` : program
}

async function bundleIfStale() {
  try {
    const { isStale } = require('../scripts/stale-bundle.cjs')
    if (!isStale(root, program)) return
    const bundle = await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)
    await bundle.bundleIfStale(program)
  } catch (error) {
    console.error(`${program}: ${reasonOf(error)}`)
    process.exit(1)
  }
}

/** Why there is no bundle of these sources. */
function reasonOf(error) {
  if (error.code === 'ERR_MODULE_NOT_FOUND') return `what it needs is not installed yet: run \`npm ci\` in ${root}`
  const [{ text, location } = { text: error.message }] = error.errors ?? []
  const place = location ? ` (${location.file}:${location.line})` : ''
  const remedy = /EACCES|permission denied/.test(text) ? `; the owner of ${root} can, by starting it` : ''
  return `dist/ is older than src/ and cannot be made again: ${text}${place}${remedy}`
}
