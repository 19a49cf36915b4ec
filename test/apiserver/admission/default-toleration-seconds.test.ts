/**
 * Tests DefaultTolerationSeconds: pods tolerate unhealthy nodes for five minutes unless they set their own
 * tolerations.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { giveAccount } from '../../support/accounts.ts'
import { serve } from '../../support/in-process.ts'

const fill = (condition: string) => ({
  key: `node.orch.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
})
const notReady = fill('not-ready')
const unreachable = fill('unreachable')

test('pods get default tolerations for unreachable and not-ready nodes', async (t) => {
  const client = (await serve(t)).client()
  await giveAccount(client)
  const path = '/api/v1/namespaces/default/pods'
  const cases: readonly (readonly [sent: JsonObject[], added: JsonObject[]])[] = [
    [[], [notReady, unreachable]],
    [[{ ...notReady, tolerationSeconds: 7 }], [unreachable]],
    [[{ key: unreachable.key, operator: 'Exists' }], [notReady]],
    [[{ ...notReady, effect: 'NoSchedule' }].map(({ tolerationSeconds: _, ...rest }) => rest), [notReady, unreachable]],
    [[{ operator: 'Exists' }], []],
    [[{ operator: 'Exists', effect: 'NoExecute' }], []],
    [[{ operator: 'Exists', effect: 'NoSchedule' }], [notReady, unreachable]],
  ]
  for (const [tolerations, added] of cases) {
    const spec = { containers: [{ name: 'c', image: 'i' }], tolerations }
    const made = await client.post(path, { metadata: { generateName: 'p-' }, spec })
    assert.deepEqual(made.body.spec.tolerations, [...tolerations, ...added], JSON.stringify(tolerations))
  }
  const { body } = await client.post(path, {
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  const { tolerations: _, ...spec } = body.spec
  const again = await client.put(`${path}/p`, { metadata: { name: 'p' }, spec })
  assert.deepEqual([again.status, again.body.spec.tolerations], [200, [notReady, unreachable]])
})
