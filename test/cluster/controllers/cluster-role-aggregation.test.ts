/** Tests the clusterrole-aggregation loop in a real `orch up`, with the permissions of its service account. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterRole } from '../../../src/api/kinds/rbac/cluster-role.ts'
import { vendorOf } from '../../../src/api/model/vendor.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { inDomainOf } from '../../../src/client/requests/resource-type.ts'
import { serveUp } from '../../support/in-process.ts'
import { eventOf } from '../../support/resource-types.ts'

const type = inDomainOf(vendorOf('orch'), kinds.ClusterRole)
const rule = (resource: string) => ({ verbs: ['get'], apiGroups: ['example.com'], resources: [resource] })

test('an aggregated role contains exactly the rules of the roles that it selects directly or transitively', async (t) => {
  const server = await serveUp(t)
  const client = new Client(server.transport())
  const make = (name: string, more: object) =>
    client.create(type, {
      apiVersion: 'rbac.authorization.orch.io/v1',
      kind: 'ClusterRole',
      metadata: { name },
      ...more,
    } as ClusterRole)
  const until = async (name: string, resources: readonly string[]) => {
    const found = await eventOf(client, type, {
      name: { name },
      fits: (event) => event.type !== 'BOOKMARK' && sorted(event.object as ClusterRole).join() === resources.join(),
    })
    assert.ok(found)
  }

  await make('top', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'top' } }] } })
  await make('middle', {
    metadata: { name: 'middle', labels: { to: 'top' } },
    aggregationRule: {
      clusterRoleSelectors: [{ matchExpressions: [{ key: 'to', operator: 'In', values: ['middle'] }] }],
    },
  })
  await make('one', { metadata: { name: 'one', labels: { to: 'middle' } }, rules: [rule('a'), rule('b')] })
  await make('two', { metadata: { name: 'two', labels: { to: 'middle' } }, rules: [rule('b'), rule('c')] })
  await until('middle', ['a', 'b', 'c'])
  await until('top', ['a', 'b', 'c'])
  await client.delete(type, { name: 'two' })
  await until('top', ['a', 'b'])

  const view = await client.get(type, { name: 'view' })
  assert.ok((view.rules ?? []).length > 5, 'the default roles are put together')
  assert.doesNotMatch(server.output(), / error /)
})

function sorted({ rules = [] }: ClusterRole): string[] {
  return rules.flatMap(({ resources = [] }) => resources).sort()
}
