// Starts a program of this package (`launch.cjs orch|orchctl ...`) from its bundle in dist/. If the Node version is
// unsupported or dependencies are not installed, an error message explains what to do. In a checkout, which contains
// src/, a stale bundle is rebuilt first. This file is plain JavaScript, so that every Node version can parse it. It is
// CommonJS, because loading ECMAScript modules would take a sixth of the time of a short command.
const { existsSync } = require('node:fs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')
const { cacheNameOf, runBundle } = require('./run-bundle.cjs')

const root = join(__dirname, '..')
const dist = join(root, 'dist')
const program = process.argv.splice(2, 1)[0]

// The server relies on fixes for dropped headers (CVE-2026-58044) and HTTP/2 faults. These versions contain them.
const [major, minor, patch] = process.versions.node.split('.').map(Number)
const fits = (floor) => minor > floor[0] || (minor === floor[0] && patch >= floor[1])
const fit = major === 24 ? fits([18, 1]) : major === 26 ? fits([5, 1]) : major > 26
if (!fit) {
  console.error(
    `${program}: Node ${process.versions.node} is not supported: ${program} requires 24.18.1, 26.5.1 or newer.`,
  )
  console.error(
    'On Linux (x64 or arm64), npm installs a supported version unless --omit=optional is set. Otherwise, see nodejs.org.',
  )
  process.exit(1)
}

// Until the program handles signals itself, there is nothing to shut down, so a signal ends the process.
const leave = () => process.exit(0)
const signals = program === 'orch' ? ['SIGINT', 'SIGTERM'] : []
for (const signal of signals) process.on(signal, leave)

start()

async function start() {
  if (existsSync(join(root, 'src'))) await bundleIfStale()
  runBundle(join(dist, `${program}.cjs`), {
    cacheFile: join(dist, 'compiled', cacheNameOf(program, process.argv.slice(2))),
  })
  for (const signal of signals) process.off(signal, leave)
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

/** Explains why the sources could not be bundled. */
function reasonOf(error) {
  if (error.code === 'ERR_MODULE_NOT_FOUND') return `dependencies are not installed: run \`npm ci\` in ${root}`
  const [{ text, location } = { text: error.message }] = error.errors ?? []
  const place = location ? ` (${location.file}:${location.line})` : ''
  const remedy = /EACCES|permission denied/.test(text) ? `. Start ${program} once as the owner of ${root}` : ''
  return `dist/ is older than src/ and cannot be rebuilt: ${text}${place}${remedy}`
}
