/**
 * `npm test`: sets up what the tests need beyond npm, runs the checks and every test file, and ends with a line
 * `N passed, M failed`. `npm test -- store` runs only the test files whose path contains `store`.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { run } from 'node:test'
import { runChecks } from '../scripts/check.ts'
import { installTools } from './tools/install.ts'

const root = dirname(import.meta.dirname)
const wanted = process.argv.slice(2)
const files = globSync('test/**/*.test.ts', { cwd: root })
  .filter((file) => wanted.length === 0 || wanted.some((text) => file.includes(text)))
  .sort()
  .map((file) => join(root, file))

let passed = 0
let failed = 0

installTools()
for (const check of wanted.length === 0 ? runChecks() : []) {
  count(check.passed)
  console.log(`${check.passed ? 'ok' : 'not ok'}  ${check.name}${check.passed ? '' : `\n${check.output}`}`)
}
if (wanted.length === 0) for (const room of new Set(files.map(dirname))) runRoom(room)
else await runFiles()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)

function count(ok: boolean): void {
  if (ok) passed++
  else failed++
}

/**
 * All files of a room, in a process of its own: a single run over all rooms came to a stop after some two hundred files,
 * with nothing under way and the rest never begun.
 */
function runRoom(room: string): void {
  const args = [import.meta.filename, `${relative(root, room)}/`]
  const { stdout } = spawnSync(process.execPath, args, {
    stdio: ['inherit', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    timeout: 30 * 60_000,
  })
  process.stdout.write(`${relative(root, room)}\n${stdout}`)
  const [, good, bad] = /^(\d+) passed, (\d+) failed$/m.exec(stdout) ?? [undefined, 0, 1]
  passed += Number(good)
  failed += Number(bad)
}

/** Three files at a time, one process each: some wait for time to pass while others keep two cores busy. */
async function runFiles(): Promise<void> {
  const started = performance.now()
  // Every file is watched for changed prototypes.
  const execArgv = ['--import', join(root, 'test/tools/prototypes.mjs')]
  const stream = run({ files, concurrency: 3, timeout: 25 * 60_000, execArgv })
  stream.on('test:pass', ({ name, details, file, skip, todo }) => {
    if (details.type === 'suite' || name === file) return
    // A test that did not run proves nothing: it counts as failed.
    if (skip !== undefined || todo !== undefined) report(name, file, 'the test was skipped or is still to do')
    else count(true)
  })
  stream.on('test:fail', ({ name, details, file }) => {
    if (details.type === 'suite' || (details.error.cause as Error | undefined)?.message?.match(/\d+ subtests? failed/))
      return
    const { cause } = details.error
    report(name, file, cause instanceof Error ? (cause.stack ?? cause.message) : String(cause ?? details.error.message))
  })
  stream.on('test:stderr', ({ message }) => process.stderr.write(message))
  const spent = new Map<string, number>()
  stream.on('test:complete', ({ file = '', nesting, details }) => {
    if (nesting === 0) spent.set(file, (spent.get(file) ?? 0) + details.duration_ms)
  })
  for await (const _ of stream);
  console.log(`the slowest: ${slowest(spent)}`)
  console.log(`${files.length} test files in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}

/** A slow suite is a defect: these are where to look first. */
function slowest(spent: ReadonlyMap<string, number>): string {
  const files = [...spent].toSorted(([, a], [, b]) => b - a).slice(0, 8)
  return files.map(([file, ms]) => `${relative(root, file)} ${(ms / 1000).toFixed(0)} s`).join(', ')
}

function report(name: string, file: string | undefined, why: string): void {
  count(false)
  console.log(
    `not ok  ${file === undefined ? '' : `${relative(root, file)}: `}${name}\n${why.replaceAll(/^/gm, '    ')}`,
  )
}
