/**
 * Tests that Pods requiring a lot of work are scheduled in steps, so that no turn of the event loop takes a long time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TimeSlice } from '../../../src/base/concurrency/time-slice.ts'
import { findNode } from '../../../src/cluster/scheduler/find-node.ts'
import type { PodInfo } from '../../../src/cluster/scheduler/pod-info.ts'
import { assertBrief } from '../../support/effort.ts'
import { type PodParts, pod, searchIn, sightOf } from '../../support/scheduling.ts'

const numbers = (length: number) => Array.from({ length }, (_, i) => i)

/** Creates 100 nodes with the labels that the constraints use, and 600 Pods with different labels. */
const names = numbers(100).map((i) => `n${i}`)
const labels = Object.fromEntries(numbers(500).map((i) => [`place-${i}`, 'here']))
const nodes = Object.fromEntries(names.map((name) => [name, { labels }]))
const pods = numbers(600).map((i) => pod(`p${i}`, { labels: { app: `a${i}` }, on: names[i % names.length]! }))
const sight = sightOf({ nodes, pods })

/** A selector for which no index helps, so that the scheduler compares the selector with the Pods of every workload. */
const anyApp = { labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }
const spread = (whenUnsatisfiable: string) =>
  numbers(500).map((i) => ({ ...anyApp, topologyKey: `place-${i}`, maxSkew: 5000, whenUnsatisfiable }))
const terms = numbers(500).map((i) => ({ ...anyApp, topologyKey: `place-${i}` }))
const required = { requiredDuringSchedulingIgnoredDuringExecution: terms }
const preferred = {
  preferredDuringSchedulingIgnoredDuringExecution: terms.map((podAffinityTerm) => ({ weight: 1, podAffinityTerm })),
}

const demanding: { readonly [name: string]: PodParts } = {
  'required spread constraints': { topologySpreadConstraints: spread('DoNotSchedule') },
  'preferred spread constraints': { topologySpreadConstraints: spread('ScheduleAnyway') },
  'required affinity terms': { affinity: { podAffinity: required } },
  'required anti-affinity terms': { affinity: { podAntiAffinity: required } },
  'preferred affinity terms': { affinity: { podAffinity: preferred } },
}

async function find(wanted: PodInfo): Promise<boolean> {
  return 'node' in (await new TimeSlice().run(findNode(searchIn(sight, wanted))))
}

for (const [name, parts] of Object.entries(demanding))
  test(`scheduling a pod with 500 ${name} blocks the event loop for less than 50 ms at a time`, async () => {
    const wanted = pod('wanted', { ...parts, labels: { app: 'wanted' } })
    const { result } = await assertBrief(50, () => find(wanted))
    assert.equal(result, name !== 'required anti-affinity terms')
  })

test('topology keys that no node has use no memory after a scheduling attempt', async () => {
  const groups = () => [...sight.cluster.groups.caring, ...pods.map((each) => sight.cluster.groups.describe(each))]
  const constraint = { ...anyApp, topologyKey: 'nobody-has-this', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }
  await find(pod('wanted', { topologySpreadConstraints: [constraint] }))
  const [group] = groups()
  assert.notEqual(group!.places('nobody-has-this'), group!.places('nobody-has-this'), 'it is not kept')
})
