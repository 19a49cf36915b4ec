/**
 * `npm test`: installs those test prerequisites that npm does not install, runs the checks and every test file, and
 * ends with a line `N passed, M failed`. `npm test -- store` runs only the test files whose path contains `store`.
 * Files that end in `.long.test.ts` run only if they are selected by path, or in the long variant (`npm run
 * test:long`). The output contains the number of skipped files, and lists the files that took the most time and the
 * most CPU time, including the programs that they started. Some files run at several Kubernetes versions
 * (`support/versions.ts`). A file that fails is run a second time on its own. If the second run passes, the file is
 * reported as uncertain (docs/decisions/0042).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { runChecks } from '../scripts/check.ts'
import { bundleIfStale } from './support/bundle.ts'
import { compiled } from './support/compile-cache.ts'
import { installTools } from './support/install.ts'
import { long } from './support/long.ts'
import { inLists, startsPrograms } from './support/plan.ts'
import { makeRunDirectories } from './support/run-directories.ts'
import { keepTimes, readTimes, type Spent } from './support/times.ts'
import { atLaterVersions } from './support/versions.ts'

const root = dirname(import.meta.dirname)
const patterns = process.argv.slice(2)
const testFiles = globSync('test/**/*.test.ts', { cwd: root }).sort()
const chosen =
  patterns.length === 0
    ? testFiles.filter((file) => long || !file.endsWith('.long.test.ts'))
    : testFiles.filter((file) => patterns.some((text) => file.includes(text)))
const files = [...chosen, ...atLaterVersions(chosen)].map((file) => join(root, file))

/** Maximum number of files per process, to limit what the files can leave behind. */
const maxFilesPerProcess = 200
/**
 * Sizes in megabytes of the part of the heap for new objects. These sizes exceed the defaults, so each collection of
 * this part covers many more objects, most of which are already garbage, and fewer objects reach the part whose
 * collection is expensive.
 */
const heapFlags = ['--min-semi-space-size=32', '--max-semi-space-size=64']
// Every process is checked for modified prototypes.
const args = [
  ...heapFlags,
  ...['--import', join(root, 'test/support/light-tests.mjs')],
  ...['--import', join(root, 'test/support/prototypes.mjs')],
  ...['--test-reporter', join(root, 'test/support/reporter.mjs'), '--test-reporter-destination', 'stdout'],
  join(root, 'test/support/batch.mjs'),
]
/**
 * Time limits in minutes: for a file, and for a process to exit after its last file. Resources that the files have not
 * released may delay the exit.
 */
const fileMinutes = long ? 20 : 4
const endMinutes = 1

/**
 * The messages of a process report each finished test (`reporter.mjs`), the cost of a file, and that the process is
 * ready for another file.
 */
interface TestEnd {
  /** The path of the file. Undefined if the file is unknown. */
  readonly file?: string
  readonly name: string
  readonly why?: string
}
type FileEnd = { readonly file: string } & Spent
interface Free {
  readonly next: true
}

/**
 * Numbers of passed and failed tests in one file. Checks, and other tests that belong to no file, are counted together.
 */
interface Count {
  passed: number
  failed: number
}
const noFile = 'no file'
const counts = new Map<string, Count>()
/** Maximum number of failed files that run again. If more files fail, the failures are not due to chance. */
const maxUncertain = 3

const runDirectories = makeRunDirectories(process.env.TMPDIR)
installTools(files)
// Otherwise, all test processes that start a program would build the bundle at the same time.
if (files.some(startsPrograms)) for (const program of ['orch', 'orchctl']) await bundleIfStale(program)
await Promise.all([patterns.length === 0 ? checkSources() : undefined, runFiles()])
await runFailedAgain()
if (patterns.length === 0 && chosen.length < testFiles.length)
  console.log(`left to npm run test:long: ${testFiles.length - chosen.length} files`)
const passed = sum('passed')
const failed = sum('failed')
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 || passed === 0 ? 1 : 0)

function count(file: string, ok: boolean): void {
  const counted = counts.get(file) ?? { passed: 0, failed: 0 }
  counts.set(file, counted)
  if (ok) counted.passed++
  else counted.failed++
}

function sum(what: keyof Count): number {
  return counts.values().reduce((total, counted) => total + counted[what], 0)
}

/** Runs the checks in parallel with the tests. A check that is a single task leaves one core to the tests. */
async function checkSources(): Promise<void> {
  for (const { name, passed, output } of await runChecks()) {
    count(noFile, passed)
    console.log(`${passed ? 'ok' : 'not ok'}  ${name}${passed ? '' : `\n${output}`}`)
  }
}

/**
 * Runs all files in two processes per core, because some processes wait while others keep the cores busy. Starting a
 * process takes two seconds of CPU time, so a process that was started for a special list continues with the last list,
 * whose files can share a process with any other files.
 */
async function runFiles(): Promise<void> {
  const started = performance.now()
  const before = readTimes()
  const lists = inLists(files, before)
  const spent: [string, Spent][] = []
  const worker = async () => {
    for (const list of lists)
      for (let first = list.shift(); first !== undefined; first = list.shift())
        spent.push(...(await runProcess(first, () => list.shift() ?? lists.at(-1)?.shift())))
  }
  await Promise.all(Array.from({ length: 2 * availableParallelism() }, worker))
  keepTimes(before, spent)
  const cpuMs = spent.reduce((sum, [, { cpuMs }]) => sum + cpuMs, 0)
  console.log(`the slowest: ${highest(spent, 'ms')}`)
  console.log(`most processor time: ${highest(spent, 'cpuMs')}`)
  const took = `${seconds(performance.now() - started, 1)}, ${seconds(cpuMs, 1)} of processor time`
  console.log(`${files.length} test files in ${took}`)
}

/**
 * Starts a process that runs a file and then further files, and counts the tests of all these files. A file without
 * tests counts as a failure, and so does a file that does not finish. A process that exits with an error although no
 * test failed also counts as a failure.
 */
async function runProcess(first: string, another: () => string | undefined): Promise<[string, Spent][]> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, ...compiled, ...runDirectories },
  })
  const taken = [first]
  let next: string | undefined = first
  const tests: TestEnd[] = []
  const ended: [string, Spent][] = []
  let patience: NodeJS.Timeout | undefined
  const handOver = () => {
    clearTimeout(patience)
    const file = next ?? (taken.length < maxFilesPerProcess ? another() : undefined)
    if (file !== undefined && file !== next) taken.push(file)
    next = undefined
    const minutes = file === undefined ? endMinutes : fileMinutes
    patience = setTimeout(() => child.kill('SIGKILL'), minutes * 60_000)
    child.send(file ?? '')
  }
  child.on('message', (message: TestEnd | FileEnd | Free) => {
    if ('next' in message) handOver()
    else if ('cpuMs' in message) ended.push([message.file, message])
    else {
      tests.push(message)
      if (message.why === undefined) count(message.file ?? noFile, true)
      else report(message.name, message.file ?? taken.join(' '), message.why)
    }
  })
  const [code, signal] = await once(child, 'close')
  clearTimeout(patience)
  const how = signal === null ? `with exit code ${code}` : `by ${signal}, as it gets when it takes too long`
  for (const file of taken)
    if (!ended.some(([name]) => name === file)) report('not run to its end', file, `the process ended ${how}`)
    else if (!tests.some((test) => test.file === file)) report('ended', file, 'no test in it')
  const bad = code !== 0 && ended.length === taken.length && tests.every(({ why }) => why === undefined)
  if (bad) report('ended', taken.join(' '), `${how}, and no test had failed`)
  return ended
}

/**
 * Runs failed files again. Otherwise, a test that fails once in many runs would block good changes. A retry hides
 * nothing, because the report mentions the first failure. Failures of a check, failures that belong to no file, and
 * failures of many files at once are not due to chance, and are not retried.
 */
async function runFailedAgain(): Promise<void> {
  const failing = [...counts].filter(([, { failed }]) => failed > 0)
  if (failing.length > maxUncertain || failing.some(([file]) => !files.includes(file))) return
  for (const [file, before] of failing) {
    counts.delete(file)
    await runProcess(file, () => undefined)
    const again = counts.get(file)
    const isGood = again?.failed === 0 && again.passed > 0
    if (!isGood) counts.set(file, before)
    const name = relative(root, file)
    console.log(
      isGood ? `uncertain  ${name}: failed above, and passed when it ran again, alone` : `failed twice  ${name}`,
    )
  }
}

/**
 * Lists the slowest files, which are the place to start when speeding up the suite. ORCH_TIMES=all lists every file.
 */
function highest(spent: readonly [string, Spent][], what: keyof Spent): string {
  const most = process.env.ORCH_TIMES === 'all' ? files.length : 12
  const sorted = spent.toSorted(([, a], [, b]) => b[what] - a[what]).slice(0, most)
  return sorted.map(([file, times]) => `${relative(root, file)} ${seconds(times[what], 1)}`).join(', ')
}

function seconds(ms: number, digits = 0): string {
  return `${(ms / 1000).toFixed(digits)} s`
}

function report(name: string, file: string, why: string): void {
  count(file, false)
  console.log(`not ok  ${file.replaceAll(`${root}/`, '')}: ${name}\n${why.replaceAll(/^/gm, '    ')}`)
}
