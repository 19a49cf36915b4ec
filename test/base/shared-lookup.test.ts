/** Tests shared lookups. A caller never shares a lookup that started before the call. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SharedLookup } from '../../src/base/concurrency/shared-lookup.ts'

/** Returns a lookup function whose results the test controls. */
function controlled() {
  const begun: PromiseWithResolvers<number>[] = []
  const look = () => {
    const lookup = Promise.withResolvers<number>()
    begun.push(lookup)
    return lookup.promise
  }
  return { begun, look }
}

describe('sharing of concurrent lookups', () => {
  it('callers that arrive during a lookup share the next lookup', async () => {
    const { begun, look } = controlled()
    const shared = new SharedLookup(look, 60_000)
    const first = shared.ask()
    const others = [shared.ask(), shared.ask()]
    assert.equal(begun.length, 1)
    begun[0]!.resolve(1)
    assert.equal(await first, 1)
    await new Promise(setImmediate)
    assert.equal(begun.length, 2)
    begun[1]!.resolve(2)
    assert.deepEqual(await Promise.all(others), [2, 2])
    const last = shared.ask()
    assert.equal(begun.length, 3)
    begun[2]!.resolve(3)
    assert.equal(await last, 3)
  })

  it('lookups continue after a failure and do not wait for a slow lookup', async () => {
    const { begun, look } = controlled()
    const shared = new SharedLookup(look, 1)
    const slow = shared.ask()
    const next = shared.ask()
    while (begun.length < 2) await new Promise(setImmediate)
    begun[1]!.resolve(2)
    assert.equal(await next, 2)
    begun[0]!.reject(new Error('slow and failed'))
    await assert.rejects(slow, /slow and failed/)
    const after = shared.ask()
    begun[2]!.resolve(3)
    assert.equal(await after, 3)
  })
})
