/**
 * Tests that the results of test files in the same process are attributed to the right file, and that no failure is
 * lost.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'

const importing = "import { after, describe, test } from 'node:test'\n"

/** Runs files with the given contents. Returns the test names that each file reports, with `!` before failed tests. */
async function run(t: TestContext, files: { readonly [name: string]: string }, queries: readonly string[] = ['']) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-test-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const paths = Object.entries(files).flatMap(([name, text]) => {
    const path = join(directory, `${name}.mjs`)
    writeFileSync(path, importing + text)
    return queries.map((query) => `${path}${query}`)
  })
  const tool = (name: string) => join(import.meta.dirname, name)
  const args = [
    ...['--import', tool('light-tests.mjs')],
    ...['--test-reporter', tool('reporter.mjs'), '--test-reporter-destination', 'stdout', tool('batch.mjs')],
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const told: string[] = []
  child.on('message', ({ next, file, name, why }: { next?: true; file?: string; name?: string; why?: string }) => {
    if (next) {
      child.send(paths.shift() ?? '')
      return
    }
    const short = file?.slice(directory.length + 1).replace('.mjs', '') ?? 'one'
    told.push(`${short} ${why === undefined ? '' : '!'}${name?.replace(file ?? 'none', 'itself') ?? 'ended'}`)
  })
  const [code] = await once(child, 'close')
  return { told, code }
}

test('each test file in a batch has its own tests and hooks, and ends before the next file begins', async (t) => {
  const file = (name: string) => `
    let open = true
    after(() => { open = false; delete globalThis.busy })
    if (globalThis.busy) throw new Error('the one before is busy')
    globalThis.busy = true
    await new Promise((resolve) => setTimeout(resolve, 1))
    test('${name}1', () => { if (!open) throw new Error('ended') })
    describe('group', () => test('${name}2', () => {}))`
  const { told, code } = await run(t, { a: file('a'), b: file('b') })
  const sorted = told.filter((line) => !line.includes('ended')).toSorted()
  assert.deepEqual([sorted, code], [['a a1', 'a a2', 'b b1', 'b b2'], 0])
  assert.deepEqual(
    told.filter((line) => line.includes('ended')),
    ['a ended', 'b ended'],
  )
})

test('a test file for several Kubernetes versions is run and reported once per version', async (t) => {
  const text = "test('at ' + (process.env.ORCH_TEST_VERSION ?? 'its own'), () => {})"
  const { told, code } = await run(t, { a: text }, ['?version=1.36', '', '?version=1.28'])
  assert.deepEqual(
    told.filter((line) => line.includes(' at ')),
    ['a?version=1.36 at 1.36', 'a at its own', 'a?version=1.28 at 1.28'],
  )
  assert.equal(code, 0)
})

test('results of concurrent tests and their subtests are not mixed up', async (t) => {
  const { told, code } = await run(t, {
    a: `describe('group', { concurrency: true }, () => {
      for (const name of ['x', 'y'])
        test(name, async (t) => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          await t.test(name + '1', async () => {
            await new Promise((resolve) => setTimeout(resolve, 1))
            if (name === 'y') throw new Error('y')
          })
        })
    })`,
  })
  assert.deepEqual([told.toSorted(), code], [['a !y1', 'a ended', 'a x', 'a x1'], 1])
})

const failures: { readonly [text: string]: string } = {
  "test('t', () => { throw new Error('x') })": 'bad !t',
  "test('t', () => {}); throw new Error('x')": 'bad !itself',
  "import './missing.mjs'": 'bad !itself',
  "test('t', () => {}); after(() => { throw new Error('x') })": 'bad !itself',
  "test.skip('t', () => {})": 'bad !t',
  "describe.skip('d', () => { test('t', () => {}) })": 'bad !d',
  "test('t', (t) => t.todo())": 'bad !t',
  "test('t', () => { setTimeout(() => { throw new Error('x') }, 1); return new Promise((r) => setTimeout(r, 50)) })":
    'bad !t',
  "test('t', () => { void Promise.reject(new Error('x')); return new Promise((r) => setTimeout(r, 50)) })": 'bad !t',
  "test('t', () => { setTimeout(() => { throw new Error('x') }, 1) }); test('u', () => new Promise((r) => setTimeout(r, 50)))":
    'one !ended',
}

for (const [text, expected] of Object.entries(failures)) {
  test(`the test runner reports a failure: ${text}`, async (t) => {
    const { told } = await run(t, { bad: text, good: "test('g', () => {})" })
    assert.ok(told.includes(expected), told.join(', '))
    assert.ok(told.includes('good g') && told.includes('good ended'), told.join(', '))
  })
}

test('a test may wait for a timer that does not keep the process alive', async (t) => {
  const { told, code } = await run(t, {
    a: "test('t', () => new Promise((resolve) => setTimeout(resolve, 20).unref()))",
  })
  assert.deepEqual([told.toSorted(), code], [['a ended', 'a t'], 0])
})

test('a test file that exits the process is not reported as complete', async (t) => {
  const { told } = await run(t, { bad: "test('t', () => process.exit(0))", good: "test('g', () => {})" })
  assert.deepEqual(
    told.filter((line) => line.includes('ended')),
    [],
  )
})
