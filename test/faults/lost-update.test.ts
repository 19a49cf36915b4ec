/**
 * Tests concurrent increments: fifty clients increment a counter in one object, half of them with a PUT that includes
 * the resourceVersion, and half with a patch that tests the old value. The final value must equal the number of
 * successful responses, and all other responses must be conflicts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { long } from '../support/long.ts'
import { startServer } from '../support/server.ts'
import { report } from './load.ts'

const clients = 50
const triesPerClient = long ? 200 : 12
const path = '/api/v1/namespaces/default/configmaps/count'

test('concurrent increments of one object are not lost', { timeout: 300_000 }, async (t) => {
  const client = (await startServer(t)).client()
  await client.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'count' }, data: { n: '0' } })
  const answers = new Map<number, number>()

  const add = async (byPatch: boolean) => {
    const { body } = await client.get(path)
    const next = String(Number(body.data.n) + 1)
    const test = { op: 'test', path: '/data/n', value: body.data.n }
    const { status, text } = byPatch
      ? await client.send(path, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json-patch+json' },
          body: [test, { op: 'replace', path: '/data/n', value: next }],
        })
      : await client.put(path, { ...body, data: { n: next } })
    assert.ok([200, byPatch ? 422 : 409].includes(status), `${status} ${text.slice(0, 300)}`)
    answers.set(status, (answers.get(status) ?? 0) + 1)
  }
  await Promise.all(
    Array.from({ length: clients }, async (_, i) => {
      for (let n = 0; n < triesPerClient; n++) await add(i % 2 === 0)
    }),
  )

  const [done = 0, conflicts = 0, failedTests = 0] = [200, 409, 422].map((status) => answers.get(status))
  report(t, { done, 'conflicts of versions': conflicts, 'tests that failed': failedTests })
  assert.equal((await client.get(path)).body.data.n, String(done))
  assert.equal(done + conflicts + failedTests, clients * triesPerClient)
  assert.ok(conflicts > 0 && failedTests > 0, 'nobody met anybody')
})
