// Builds the bundle (scripts/bundle.mjs), the declarations (scripts/declare.mjs) and the documentation site
// (scripts/site/run.ts) concurrently. npm runs this script after an installation in a checkout (`dependencies`) and
// before it packs (`prepack`). A script named `prepare` would also run in a checkout, but npm warns users about it when
// they install the package.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

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
