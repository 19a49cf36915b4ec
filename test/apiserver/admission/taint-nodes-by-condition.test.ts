/** Tests TaintNodesByCondition: a new node is tainted once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '../../support/in-process.ts'

test('a new node has the not-ready taint until the taint is removed', async (t) => {
  const client = (await serve(t)).client()
  const notReady = { key: 'node.orch.io/not-ready', effect: 'NoSchedule' }
  const taintsOf = async (name: string, taints?: object[]) =>
    (await client.post('/api/v1/nodes', { metadata: { name }, spec: taints ? { taints } : {} })).body.spec.taints
  assert.deepEqual(await taintsOf('a'), [notReady])
  const other = { ...notReady, effect: 'NoExecute' }
  assert.deepEqual(await taintsOf('b', [other]), [other, notReady])
  assert.deepEqual(await taintsOf('c', [{ ...notReady, value: 'x' }]), [{ ...notReady, value: 'x' }])
  const updated = await client.put('/api/v1/nodes/a', { metadata: { name: 'a' } })
  assert.equal(updated.body.spec.taints, undefined)
})
