// Builds the bundle (scripts/bundle.mjs), the declarations (scripts/declare.mjs) and the documentation site
// (scripts/site/run.ts) concurrently. npm runs this script after an installation in a checkout and before it packs. In
// an installed package, which already contains all of them and has no sources, the script does nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

if (!existsSync(new URL('../src', import.meta.url))) process.exit(0)

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url))
// The site reads TypeScript sources, so it needs the pinned Node.
const commands = [
  [process.execPath, pathOf('./bundle.mjs')],
  [process.execPath, pathOf('./declare.mjs')],
  [pathOf('../bin/node'), pathOf('./site/run.ts')],
]
const endings = await Promise.all(
  commands.map(([program, script]) => once(spawn(program, [script], { stdio: 'inherit' }), 'close')),
)
process.exitCode = endings.every(([code]) => code === 0) ? 0 : 1
