/** Tests that the limits of a rollout hold even if a ReplicaSet has not recounted its pods since it was scaled down. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Deployment } from '../../../src/api/kinds/apps/deployment.ts'
import type { ReplicaSet } from '../../../src/api/kinds/apps/replica-set.ts'
import { newSize } from '../../../src/cluster/controllers/workloads/deployment/limits.ts'

const deployment: Deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 20,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
  },
} as unknown as Deployment

function setOf(replicas: number, status: ReplicaSet['status'], generation = 2): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'web-1', generation },
    spec: { replicas },
    ...(status === undefined ? {} : { status }),
  } as ReplicaSet
}

test('the new ReplicaSet of a rollout does not grow until a scaled-down old ReplicaSet has recounted its pods', () => {
  const stale = setOf(5, { replicas: 5, observedGeneration: 1 })
  const counted = setOf(5, { replicas: 12, observedGeneration: 2 })
  const present = setOf(3, undefined, 1)
  assert.equal(newSize(deployment, { present, old: [stale] }), 3)
  assert.equal(newSize(deployment, { present: undefined, old: [stale] }), 0)
  assert.equal(newSize(deployment, { present, old: [counted] }), 3 + (25 - 12 - 3))
  assert.equal(newSize(deployment, { present: undefined, old: [counted] }), 25 - 12)
})
