/** Tests the settings that `bin/orch` applies when it starts Node. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { root } from '../support/server.ts'

const directory = mkdtempSync(join(tmpdir(), 'orch-settings-'))
after(() => rmSync(directory, { recursive: true, force: true }))
const probe = join(directory, 'probe.cjs')
writeFileSync(
  probe,
  `console.log(require('node:v8').getHeapStatistics().heap_size_limit / 2 ** 20, process.env.MALLOC_ARENA_MAX)
  process.exit()`,
)

/** Returns the maximum size of V8's heap in MiB and the number of malloc's arenas, with the given options for Node. */
function settings(nodeOptions: string): { readonly heap: number; readonly arenas: number } {
  const env = { ...process.env, NODE_OPTIONS: `--require=${probe} --max-old-space-size=100 ${nodeOptions}` }
  const output = execFileSync(join(root, 'bin/orch'), ['version'], { encoding: 'utf8', env })
  const [heap, arenas] = output.split(' ').map(Number)
  return { heap: heap!, arenas: arenas! }
}

test('the young generation of the server is 16 MiB in size unless NODE_OPTIONS sets another size', () => {
  // The maximum size of the heap includes three times the size of the young generation.
  assert.deepEqual(settings(''), { heap: 100 + 3 * 16, arenas: 2 })
  assert.deepEqual(settings('--max-semi-space-size=8'), { heap: 100 + 3 * 8, arenas: 2 })
})
