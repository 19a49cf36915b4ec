/** Formatter, linter, types, layers and functions: everything that can be said of the code without running it. */
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

const checks: readonly (readonly [string, readonly string[]])[] = [
  ['format and lint', [join(root, 'node_modules/.bin/biome'), 'check', '--error-on-warnings', '.']],
  ['types', [join(root, 'node_modules/.bin/tsc'), '-p', '.']],
  ['layers', [process.execPath, 'scripts/check-layers.ts']],
  ['functions', [process.execPath, 'scripts/check-functions.ts']],
  ['exports', [process.execPath, 'scripts/check-exports.ts']],
]

export function runChecks(): { name: string; passed: boolean; output: string }[] {
  return checks.map(([name, [command, ...args]]) => {
    const { status, stdout, stderr, error } = spawnSync(command!, args, { cwd: root, encoding: 'utf8' })
    return { name, passed: status === 0, output: `${stdout ?? ''}${stderr ?? ''}${error ? error.message : ''}` }
  })
}

if (import.meta.main) {
  const failed = runChecks().filter(({ passed }) => !passed)
  for (const { name, output } of failed) console.error(`${name}:\n${output}`)
  console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.map(({ name }) => name).join(', ')}`)
  process.exitCode = failed.length
}
