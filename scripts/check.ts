/**
 * Runs the formatter, the linter and the checks of types, layers, functions, exports and phrases: that is, every check
 * that does not execute the code.
 */
import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

/**
 * Uses a single thread, because several compiler threads would check the same types repeatedly, and the other checks
 * need the cores.
 */
const oneThread = '--singleThreaded'
/** With the cache, a repeated type check takes only a fraction of the time of the first type check. */
const incremental = (name: string) => ['--incremental', '--tsBuildInfoFile', join(root, `.tools/${name}.tsbuildinfo`)]

const checks: readonly (readonly [string, readonly string[]])[] = [
  ['format and lint', [process.execPath, 'scripts/check-format.ts']],
  ['types', [join(root, 'node_modules/.bin/tsc'), '-p', '.', oneThread, ...incremental('types')]],
  [
    'types of the console',
    [join(root, 'node_modules/.bin/tsc'), '-p', 'src/tools/console/page', oneThread, ...incremental('console-types')],
  ],
  ['layers', [process.execPath, 'scripts/check-layers.ts']],
  ['functions', [process.execPath, 'scripts/check-functions.ts']],
  ['exports', [process.execPath, 'scripts/check-exports.ts']],
  ['phrases', [process.execPath, 'scripts/check-phrases.ts']],
]

export interface Check {
  readonly name: string
  readonly passed: boolean
  readonly output: string
}

/** Runs all checks concurrently, because most of them use a single core. */
export async function runChecks(): Promise<Check[]> {
  return await Promise.all(checks.map(([name, [command, ...args]]) => runCheck(name, command!, args)))
}

function runCheck(name: string, command: string, args: readonly string[]): Promise<Check> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, maxBuffer: 64 * 1024 ** 2 }, (error, stdout, stderr) => {
      const failure = error !== null && stdout === '' && stderr === '' ? error.message : ''
      resolve({ name, passed: error === null, output: `${stdout}${stderr}${failure}` })
    })
  })
}

if (import.meta.main) {
  const failed = (await runChecks()).filter(({ passed }) => !passed)
  for (const { name, output } of failed) console.error(`${name}:\n${output}`)
  console.log(failed.length === 0 ? 'all checks passed' : `failed: ${failed.map(({ name }) => name).join(', ')}`)
  process.exitCode = failed.length
}
