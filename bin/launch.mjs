// Starts one of the programs of this package (`launch.mjs orch|orchctl ...`) from its bundle in dist/.
// Promises: an unfit Node, or a checkout that is not installed, is refused with a sentence that says what to do; in a
// checkout (there is a src/) the bundle is always that of the sources. Plain JavaScript, so that any Node can at least
// read this far.
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
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

// Who is told to stop before there is anything to stop has done so; from then on the server sees to it.
const leave = () => process.exit(0)
const signals = program === 'orch' ? ['SIGINT', 'SIGTERM'] : []
for (const signal of signals) process.on(signal, leave)

if (existsSync(join(root, 'src'))) {
  const { bundleIfStale } = await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)
  await bundleIfStale(program).catch((error) => {
    console.error(`${program}: ${reasonOf(error)}`)
    process.exit(1)
  })
}
// What V8 makes of the bundle is kept beside it, where that can be written: most of a start is compiling otherwise.
const compiled = join(root, 'dist', 'compiled')
enableCompileCache(compiled)
// The threads of the server look for it here; orchctl starts programs of others, to whom it means nothing.
if (program === 'orch') process.env.NODE_COMPILE_CACHE = compiled
await import(pathToFileURL(join(root, 'dist', `${program}.js`)).href)
for (const signal of signals) process.off(signal, leave)

/** Why there is no bundle of these sources. */
function reasonOf(error) {
  if (error.code === 'ERR_MODULE_NOT_FOUND') return `what it needs is not installed yet: run \`npm ci\` in ${root}`
  const [{ text, location } = { text: error.message }] = error.errors ?? []
  const place = location ? ` (${location.file}:${location.line})` : ''
  const remedy = /EACCES|permission denied/.test(text) ? `; the owner of ${root} can, by starting it` : ''
  return `dist/ is older than src/ and cannot be made again: ${text}${place}${remedy}`
}
