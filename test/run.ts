/**
 * `npm test`: sets up what the tests need beyond npm, runs the checks and every test file, and ends with a line
 * `N passed, M failed`. `npm test -- store` runs only the test files whose path contains `store`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { runChecks } from '../scripts/check.ts'
import { compiled } from './tools/compiled.ts'
import { installTools } from './tools/install.ts'

const root = dirname(import.meta.dirname)
const wanted = process.argv.slice(2)
const files = globSync('test/**/*.test.ts', { cwd: root })
  .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))
  .sort()
  .map((file) => join(root, file))

// Every file is watched for changed prototypes.
const execArgv = [
  ...['--import', join(root, 'test/tools/prototypes.mjs')],
  ...['--test-reporter', join(root, 'test/tools/reporter.mjs'), '--test-reporter-destination', 'stdout'],
]
const fileMinutes = 10

let passed = 0
let failed = 0

installTools()
for (const check of wanted.length === 0 ? runChecks() : []) {
  count(check.passed)
  console.log(`${check.passed ? 'ok' : 'not ok'}  ${check.name}${check.passed ? '' : `\n${check.output}`}`)
}
await runFiles()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)

function count(ok: boolean): void {
  if (ok) passed++
  else failed++
}

/** One process for each file, and two for each core: some wait for time to pass while others keep the cores busy. */
async function runFiles(): Promise<void> {
  const started = performance.now()
  const spent = new Map<string, number>()
  const waiting = files.values()
  const worker = async () => {
    for (const file of waiting) {
      const began = performance.now()
      await runFile(file)
      spent.set(file, performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, worker))
  console.log(`the slowest: ${slowest(spent)}`)
  console.log(`${files.length} test files in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

/** A file counts each of its tests; one that ends badly with none failed, or without any test, is a failure itself. */
async function runFile(file: string): Promise<void> {
  const child = spawn(process.execPath, [...execArgv, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...compiled },
    timeout: fileMinutes * 60_000,
    killSignal: 'SIGKILL',
  })
  let good = 0
  let bad = 0
  child.on('message', ({ name, why }: { name: string; why?: string }) => {
    if (why === undefined) good++
    else bad++
    if (why === undefined) count(true)
    else report(name, file, why)
  })
  const [code, signal] = await once(child, 'close')
  if (signal !== null) report('ended', file, `by ${signal}, which it gets after ${fileMinutes} minutes`)
  else if (bad === 0 && code !== 0) report('ended', file, `with exit code ${code}, and no test had failed`)
  else if (bad === 0 && good === 0) report('ended', file, 'no test in it')
}

/** A slow suite is a defect: these are where to look first. */
function slowest(spent: ReadonlyMap<string, number>): string {
  const files = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, 8)
  return files.map(([file, ms]) => `${relative(root, file)} ${(ms / 1000).toFixed(0)} s`).join(', ')
}

function report(name: string, file: string, why: string): void {
  count(false)
  console.log(`not ok  ${relative(root, file)}: ${name}\n${why.replaceAll(/^/gm, '    ')}`)
}
