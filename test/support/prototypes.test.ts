/** Tests that the prototype guard reports changes to prototypes and nothing else. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { changedPrototypes, root, startServer } from './server.ts'

function runWith(script: string): { status: number | null; stderr: string } {
  const args = ['--import', join(root, 'test/support/prototypes.mjs'), '--input-type=module', '-e', script]
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

for (const [script, expected] of Object.entries(changes)) {
  test(`the guard against prototype pollution reports a changed prototype: ${script}`, () => {
    const { status, stderr } = runWith(script)
    assert.match(stderr, expected)
    assert.equal(status, changedPrototypes)
  })
}

test('the guard against prototype pollution ignores objects with keys such as __proto__', () => {
  const { status, stderr } = runWith('const o = JSON.parse(\'{"__proto__":{"x":1},"constructor":2}\'); o.toString = 1')
  assert.deepEqual([status, stderr], [0, ''])
})

test('the guard against prototype pollution is active in the test process', () => {
  assert.ok(
    process.execArgv.some((arg) => arg.includes('prototypes.mjs')),
    'run it by npm test',
  )
})

test('the guard against prototype pollution is active in a server, and hostile input does not change prototypes', async (t) => {
  const server = await startServer(t)
  const client = server.client()
  const maps = '/api/v1/namespaces/default/configmaps'
  const nested = '"__proto__":{"polluted":"1"},"constructor":{"prototype":{"polluted":"1"}}'
  const named = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"k":"v"},${nested}}`
  const added = ['/__proto__/polluted', '/constructor/prototype/polluted', '/data/__proto__/polluted']
  const sent: readonly (readonly [string, string, string])[] = [
    ['POST', 'application/json', named],
    ['PUT', 'application/json', named],
    ['PATCH', 'application/merge-patch+json', `{${nested},"data":{${nested}},"metadata":{"labels":{${nested}}}}`],
    ['PATCH', 'application/strategic-merge-patch+json', `{${nested},"metadata":{"annotations":{${nested}}}}`],
    ['PATCH', 'application/apply-patch+yaml', named],
    ...added.map(
      (path) => ['PATCH', 'application/json-patch+json', `[{"op":"add","path":"${path}","value":"1"}]`] as const,
    ),
  ]
  for (const [method, type, raw] of sent) {
    const path = method === 'POST' ? maps : `${maps}/m?fieldManager=m`
    const { status, text } = await client.send(path, { method, headers: { 'content-type': type }, raw })
    assert.ok(status < 500, `${method} ${type}: ${status} ${text.slice(0, 300)}`)
  }
  assert.equal((await client.get(`${maps}/m`)).status, 200)
  const ended = once(server.process, 'exit')
  server.process.kill('SIGUSR2')
  assert.deepEqual(await ended, [0, null], server.output())
})
