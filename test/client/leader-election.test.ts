/**
 * Tests leader election: there is at most one leader at a time, even if the leader fails. The test controls the
 * clocks.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { leadOnce, type Term, timingFault, withinTerm } from '../../src/client/informers/leader-election.ts'
import { Client } from '../../src/client/requests/client.ts'
import { type Transport, TransportError } from '../../src/client/requests/transport.ts'
import { serve } from '../support/in-process.ts'
import { until } from '../support/until.ts'

const type = { group: 'coordination.orch.io', version: 'v1', plural: 'leases', namespaced: true }
const timing = { leaseDurationMs: 1000, renewDeadlineMs: 600, retryPeriodMs: 50 }

interface Candidate {
  readonly term: () => Term | undefined
  /** Disconnects the candidate from the server. */
  cut(): void
  /** Advances the candidate's own clock, as if its process had been suspended. */
  skip(ms: number): void
  /** Resolves to true if the lease was lost. */
  readonly ended: Promise<boolean>
  stop(): void
}

function candidate(t: TestContext, send: Transport, identity: string, name: string): Candidate {
  const state = { term: undefined as Term | undefined, isCut: false, skipped: 0 }
  const transport: Transport = async (request) => {
    if (state.isCut) throw new TransportError('cut')
    return await send(request)
  }
  const clock = { now: Date.now, monotonic: () => performance.now() + state.skipped }
  const stop = new AbortController()
  t.after(() => stop.abort())
  const work = async (term: Term) => {
    state.term = term
    await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()))
    state.term = undefined
  }
  const options = {
    client: new Client(transport),
    lease: { namespace: 'default', name },
    identity,
    clock,
    timing,
  }
  return {
    term: () => state.term,
    cut: () => {
      state.isCut = true
    },
    skip: (ms) => {
      state.skipped += ms
    },
    ended: leadOnce({ ...options, onError: () => {} }, work, stop.signal),
    stop: () => stop.abort(),
  }
}

const leads = (each: Candidate) => until(async () => each.term() !== undefined, Boolean)

test('only one of two leader-election candidates becomes the leader', async (t) => {
  const server = await serve(t)
  const send = server.transport()
  const client = new Client(send)

  await t.test(
    'one of two candidates becomes the leader, and the other candidate takes over immediately after the lease is released',
    async () => {
      const one = candidate(t, send, 'one', 'a')
      const two = candidate(t, send, 'two', 'a')
      const first = await until(async () => [one, two].find((each) => each.term() !== undefined), Boolean)
      const other = first === one ? two : one
      assert.equal(other.term(), undefined)
      first?.stop()
      assert.equal(await first?.ended, false)
      await leads(other)
      const { spec } = (await client.get(type, { namespace: 'default', name: 'a' })) as unknown as {
        spec: { holderIdentity: string; leaseTransitions: number; leaseDurationSeconds: number }
      }
      assert.equal(spec.holderIdentity, other === one ? 'one' : 'two')
      assert.deepEqual([spec.leaseTransitions, spec.leaseDurationSeconds], [1, 1])
      other.stop()
      await other.ended
    },
  )

  await t.test('a disconnected leader stops before the other candidate starts', async () => {
    const one = candidate(t, send, 'one', 'b')
    await leads(one)
    const two = candidate(t, send, 'two', 'b')
    const order: string[] = []
    void one.ended.then((lost) => order.push(`one ended, lost: ${lost}`))
    one.cut()
    await leads(two)
    order.push('two leads')
    assert.deepEqual(order, ['one ended, lost: true', 'two leads'])
    two.stop()
    await two.ended
  })

  await t.test('a leader that was suspended for longer than its lease sends no requests when it resumes', async () => {
    const one = candidate(t, send, 'one', 'c')
    await leads(one)
    const term = one.term()!
    const guarded = new Client(withinTerm(send, term))
    await guarded.get(type, { namespace: 'default', name: 'c' })
    one.skip(5000)
    // This code runs in the same turn of the event loop, so no timer has fired yet.
    assert.equal(term.mayGoOn(), false)
    await assert.rejects(guarded.get(type, { namespace: 'default', name: 'c' }), /no longer the leader/)
    assert.equal(await one.ended, true)
  })

  await t.test('a candidate measures lease expiry with its own clock', async () => {
    const past = '2020-01-01T00:00:00.000000Z'
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 1, acquireTime: past, renewTime: past }
    const metadata = { namespace: 'default', name: 'd' }
    await client.create(type, { apiVersion: 'coordination.orch.io/v1', kind: 'Lease', metadata, spec })
    const began = performance.now()
    const one = candidate(t, send, 'one', 'd')
    await leads(one)
    assert.ok(performance.now() - began >= 1000)
    one.stop()
    await one.ended
  })
})

test('invalid leader-election lease durations are reported', () => {
  assert.equal(timingFault(timing), undefined)
  assert.match(timingFault({ ...timing, renewDeadlineMs: 1000 }) ?? '', /longer than the renew deadline/)
  assert.match(timingFault({ ...timing, retryPeriodMs: 550 }) ?? '', /1.2 times the retry period/)
  assert.match(timingFault({ ...timing, retryPeriodMs: 0 }) ?? '', /at least 1s/)
})
