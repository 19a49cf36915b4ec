/**
 * `npm run test:seeds`: inserts each bug in `seeds.ts` into a copy of this repository, runs the test that must detect
 * it, and reports whether the test with the expected name failed within two minutes. The tests first run once without a
 * bug, because a test that always fails proves nothing. `npm run test:seeds -- cache` tries the bugs whose text
 * contains `cache`. The last line of the output is `N caught, M not`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../support/server.ts'
import { type Seed, seeds } from './seeds.ts'

const patienceMs = 120_000
const copied = [
  'bin',
  'docs',
  'scripts',
  'src',
  'test',
  'package.json',
  'package-lock.json',
  'README.md',
  'tsconfig.json',
]

const patterns = process.argv.slice(2)
const chosen = seeds.filter(
  (seed) => patterns.length === 0 || patterns.some((text) => JSON.stringify(seed).includes(text)),
)
const copy = mkdtempSync(join(tmpdir(), 'orch-seeds-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const sound = new Set<string>()
for (const test of new Set(chosen.map((seed) => seed.test))) {
  const { failed, seconds } = await runTest(test)
  if (failed.length === 0) sound.add(test)
  console.log(`${failed.length === 0 ? 'green' : 'RED'} without a bug: ${test} (${seconds} s)${list(failed)}`)
}

let caught = 0
for (const seed of chosen) {
  const { told, failed, seconds } = await sow(seed)
  if (told) caught++
  console.log(`${told ? 'caught' : 'NOT CAUGHT'}: ${seed.bug} (${seed.test}, ${seconds} s)${told ? '' : list(failed)}`)
}
console.log(`${caught} caught, ${chosen.length - caught} not`)
process.exitCode = caught === chosen.length && caught > 0 ? 0 : 1

async function sow(seed: Seed): Promise<{ told: boolean; failed: string[]; seconds: string }> {
  const file = join(copy, seed.file)
  const before = readFileSync(file, 'utf8')
  let text = before
  for (const { find, replace } of seed.changes) text = text.replace(find, () => replace)
  writeFileSync(file, text)
  try {
    const { failed, seconds } = await runTest(seed.test)
    const told = sound.has(seed.test) && text !== before && failed.some((name) => name.includes(seed.expected))
    return { told, failed, seconds }
  } finally {
    writeFileSync(file, before)
  }
}

/** Returns the names of the failed tests. A test that hangs has not detected anything. */
async function runTest(test: string): Promise<{ failed: string[]; seconds: string }> {
  const started = performance.now()
  const child = spawn(
    join(copy, 'bin/node'),
    ['--import', join(copy, 'test/support/prototypes.mjs'), '--test', '--test-reporter=tap', join(copy, test)],
    {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  )
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), patienceMs)
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  const [code] = await once(child, 'close')
  clearTimeout(timer)
  const failed = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name!)
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  return { failed: code === null ? ['(no end in time)', ...failed] : failed, seconds }
}

function list(names: readonly string[]): string {
  return names.length === 0 ? '' : `\n    ${names.slice(0, 5).join('\n    ')}`
}
