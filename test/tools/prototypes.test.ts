/** The sentinel of prototypes tells of a change, and of nothing else. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { changedPrototypes, root, startServer } from './server.ts'

function runWith(script: string): { status: number | null; stderr: string } {
  const args = ['--import', join(root, 'test/tools/prototypes.mjs'), '--input-type=module', '-e', script]
  return spawnSync(join(root, 'bin/node'), args, { encoding: 'utf8' })
}

const changes: { readonly [script: string]: RegExp } = {
  'Object.prototype.polluted = 1': /Object\.prototype\.polluted/,
  '({}).__proto__.polluted = 1': /Object\.prototype\.polluted/,
  'JSON.parse(\'{"__proto__":{"x":1}}\').constructor.prototype.x = 1': /Object\.prototype\.x/,
  'Array.prototype.map = () => []': /Array\.prototype\.map/,
  'delete Function.prototype.toString': /Function\.prototype\.toString/,
  'Object.defineProperty(Object.prototype, Symbol("s"), { value: 1 })': /Symbol\(s\)/,
  'Object.prototype.polluted = 1; process.exit(0)': /polluted/,
}

for (const [script, told] of Object.entries(changes)) {
  test(`told: ${script}`, () => {
    const { status, stderr } = runWith(script)
    assert.match(stderr, told)
    assert.equal(status, changedPrototypes)
  })
}

test('not told: objects with such keys of their own', () => {
  const { status, stderr } = runWith('const o = JSON.parse(\'{"__proto__":{"x":1},"constructor":2}\'); o.toString = 1')
  assert.deepEqual([status, stderr], [0, ''])
})

test('this process and its servers are watched', async (t) => {
  assert.ok(
    process.execArgv.some((arg) => arg.includes('prototypes.mjs')),
    process.execArgv.join(' '),
  )
  const server = await startServer(t)
  server.process.kill('SIGUSR2')
  const [code] = await new Promise<[number | null]>((resolve) =>
    server.process.once('exit', (...end) => resolve([end[0]])),
  )
  assert.equal(code, 0, server.output())
})
