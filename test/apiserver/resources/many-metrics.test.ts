/** Tests that reading the usage of many pods leaves time for other requests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Lookup } from '../../../src/api/model/lookup.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import type { NodeUsage } from '../../../src/apiserver/resources/node-usage.ts'
import { resourceMetrics } from '../../../src/apiserver/resources/resource-metrics.ts'
import { threadMicroseconds } from '../../../src/base/concurrency/thread-time.ts'

test('listing pod metrics decodes the pods in several event-loop turns', async () => {
  const names = Array.from({ length: 100 }, (_, i) => ({ namespace: 'a', name: `p${i}` }))
  // Decoding a large pod takes about a millisecond.
  const decode = ({ name }: { name: string }) => {
    for (const began = threadMicroseconds(); threadMicroseconds() - began < 1000; );
    return { object: { metadata: { name, labels: {} }, status: { phase: 'Running' } } }
  }
  const lookup = { names: () => names, getCached: (_: unknown, name: { name: string }) => decode(name) }
  const nodeUsage = { of: async () => new Map() }
  const endpoints = resourceMetrics({
    lookup: lookup as unknown as Lookup,
    vendor: vendorOf('orch'),
    nodeUsage: nodeUsage as unknown as NodeUsage,
  })
  const podMetrics = endpoints.find(({ kind }) => kind.kind === 'PodMetrics')!
  const request = { verb: 'list', namespace: 'a', name: '', query: new URLSearchParams() }
  let isRunning = true
  const answer = Promise.resolve(podMetrics.answer!(request as never)).finally(() => {
    isRunning = false
  })
  let turns = 0
  for (; isRunning; turns++) await setImmediate()
  await answer
  assert.ok(turns > 10, `${turns} turns`)
})
