/**
 * Tests the deletion of a namespace with a thousand objects of twenty kinds, together with the loops that this deletion
 * involves.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../../src/api/model/object.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { discover } from '../../../src/client/requests/discovery.ts'
import { loopServer } from '../../support/loop-manager.ts'
import { manifestObject } from '../../support/manifests.ts'
import { untilTrue } from '../../support/until.ts'

const pluralNames = [
  ...['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'].map(
    (plural) => `apps.${plural}`,
  ),
  ...['configmaps', 'endpoints', 'limitranges', 'podtemplates', 'replicationcontrollers'].map(
    (plural) => `core.${plural}`,
  ),
  ...['secrets', 'serviceaccounts', 'persistentvolumeclaims'].map((plural) => `core.${plural}`),
  ...['batch.cronjobs', 'batch.jobs', 'coordination.leases', 'networking.networkpolicies'],
  ...['policy.poddisruptionbudgets', 'rbac.roles', 'discovery.endpointslices'],
]
const each = 50
const namespace = 'crowded'

test('a namespace with 1,000 objects of 20 kinds is deleted completely despite a manager restart', async (t) => {
  const { client, run, end } = await loopServer({ after: (end) => t.after(end) })
  const { types } = await discover(client)
  await client.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const typeOf = ({ apiVersion, kind }: ApiObject) =>
    types.find((type) => type.kind === kind && [type.group, type.version].filter(Boolean).join('/') === apiVersion)!
  assert.equal(pluralNames.length, 20)
  for (const name of pluralNames) {
    const object = manifestObject(name, 'orch')
    const named = (i: number) => ({ ...object, metadata: { ...object.metadata, name: `x-${i}`, namespace } })
    await Promise.all(Array.from({ length: each }, (_, i) => client.create(typeOf(object), named(i))))
  }
  await client.delete(kinds.Namespace, { name: namespace })
  const loops = ['namespace', 'pvc-protection', 'garbagecollector']
  const isThere = async () =>
    (await client.list(kinds.Namespace)).items.some(({ metadata }) => metadata.name === namespace)
  const remainingCount = async () => {
    const counts = pluralNames.map(
      async (name) => (await client.list(typeOf(manifestObject(name, 'orch')), { namespace })).items.length,
    )
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
  }
  assert.ok((await remainingCount()) >= each * pluralNames.length)
  run(loops)
  await untilTrue(async () => (await remainingCount()) < (each * pluralNames.length) / 2)
  await end()
  run(loops)
  await untilTrue(async () => !(await isThere()))
  assert.equal(await remainingCount(), 0)
})
