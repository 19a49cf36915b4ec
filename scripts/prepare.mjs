// Builds the bundle (scripts/bundle.mjs) and the declarations (scripts/declare.mjs) concurrently. npm runs this script
// after an installation in a checkout and before it packs. In an installed package, which already contains both and has
// no sources, the script does nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

if (!existsSync(new URL('../src', import.meta.url))) process.exit(0)

const scripts = ['./bundle.mjs', './declare.mjs'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
const endings = await Promise.all(
  scripts.map((script) => once(spawn(process.execPath, [script], { stdio: 'inherit' }), 'close')),
)
process.exitCode = endings.every(([code]) => code === 0) ? 0 : 1
