/** Tests that the loop for SimulationRules compares a rule with many pods without blocking other work. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import {
  type SimulationRuleParts,
  simulationRulesLoop,
} from '../../../src/cluster/controllers/nodes/simulation-rules.ts'
import { assertBrief } from '../../support/effort.ts'

const pods = Array.from({ length: 200_000 }, (_, i) => ({
  metadata: { namespace: 'default', name: `p-${i}` },
  spec: { nodeName: 'real' },
}))
const node = { metadata: { name: 'real' } }
const rule = { metadata: { name: 'r' }, spec: { failure: 'crash-loop', probabilityPercent: 50 } }

test('a simulation rule that selects many pods on a real node is evaluated in slices, and an Event names some of the pods', async () => {
  const messages: string[] = []
  const loop = simulationRulesLoop({
    vendor: vendorOf('orch'),
    recorder: { record: (_: unknown, { message }: { message: string }) => messages.push(message) },
    rules: { get: () => rule, objects: () => [rule] },
    nodes: { get: () => node, objects: () => [node] },
    pods: { objects: () => pods },
  } as unknown as SimulationRuleParts)
  await assertBrief(100, async () => await loop.reconcile('r', new AbortController().signal))
  assert.match(messages[0] ?? '', /^ignored for pod default\/p-\d+, (?:pod \S+, ){3}pod \S+ and \d{5} more: only/)
})
