/**
 * Tests that quota usage can be counted exactly: a count starts only when no write is active, and new writes wait
 * briefly for it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QuotaActivity } from '../../../src/apiserver/admission/quota/activity.ts'

const turn = () => new Promise(setImmediate)

test('a quota recount waits for writes in progress, and new writes wait for the recount', async () => {
  const activity = new QuotaActivity()
  const events: string[] = []
  const end = await activity.begin('a')
  const counting = activity.whileStill('a', async () => {
    events.push('count')
    await turn()
    events.push('counted')
    return 5
  })
  const waiting = activity.begin('a').then((endIt) => {
    events.push('write')
    endIt()
  })
  ;(await activity.begin('b'))()
  await turn()
  assert.deepEqual(events, [])
  end()
  assert.equal(await counting, 5)
  await waiting
  assert.deepEqual(events, ['count', 'counted', 'write'])
  assert.equal(await activity.whileStill('a', async () => 6), 6)
})

test('a hanging write or a long quota recount does not block other writes', async () => {
  const activity = new QuotaActivity({ drainMs: 10, holdMs: 10 })
  const end = await activity.begin('a')
  assert.equal(await activity.whileStill('a', async () => assert.fail('a write is under way')), undefined)
  end()
  const long = activity.whileStill('a', async (isStill) => {
    assert.ok(isStill())
    const other = await activity.begin('a')
    other()
    return isStill()
  })
  assert.equal(await long, false, 'a write began meanwhile')
})
