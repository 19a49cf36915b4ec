/**
 * Tests rules added since Kubernetes 1.24 for CronJob time zones, StatefulSets, disruption budgets, autoscalers and
 * workload statuses.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/api/json/json.ts'
import { controllerRevision } from '../../../src/api/kinds/apps/controller-revision.ts'
import { deployment } from '../../../src/api/kinds/apps/deployment.ts'
import { replicaSet } from '../../../src/api/kinds/apps/replica-set.ts'
import { statefulSet } from '../../../src/api/kinds/apps/stateful-set.ts'
import { horizontalPodAutoscaler } from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscalerV1 } from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler-v1.ts'
import { cronJob } from '../../../src/api/kinds/batch/cron-job.ts'
import { podDisruptionBudget } from '../../../src/api/kinds/policy/pod-disruption-budget.ts'
import { asJson } from '../../../src/api/model/object.ts'
import { isTimeZone } from '../../../src/api/model/time-zone.ts'
import type { EmulatedVersion } from '../../../src/api/versions/emulated-version.ts'
import { defaultGatesOf } from '../../../src/api/versions/feature-gates.ts'
import { podsOf, selecting } from './pods-of.ts'
import { createBy, ruleContext, updateBy } from './rules.ts'

const newest = { version: '1.36' } as const

test('time zone names of CronJobs include aliases and are case-sensitive', () => {
  const names = ['Europe/Berlin', 'US/Eastern', 'Etc/GMT+5', 'UTC', 'europe/berlin', 'Mars/Base', '+05:00', 'Local', '']
  assert.deepEqual(names.filter(isTimeZone), names.slice(0, 4))
})

test('since Kubernetes 1.29, only the timeZone field can set the time zone of a CronJob', () => {
  const sent = (spec: JsonObject): JsonObject => ({
    metadata: { name: 'c' },
    spec: { schedule: '@daily', jobTemplate: { spec: { template: podsOf({ restartPolicy: 'Never' }) } }, ...spec },
  })
  const zoned = { schedule: 'TZ=UTC 0 * * * *' }
  const both = { ...zoned, timeZone: 'UTC' }
  const cases: readonly (readonly [version: EmulatedVersion, spec: JsonObject, faults: readonly string[]])[] = [
    ['1.36', { timeZone: 'Europe/Berlin' }, []],
    ['1.36', { timeZone: 'Mars/Base' }, ['Invalid spec.timeZone']],
    ['1.36', { timeZone: 'local' }, ['Invalid spec.timeZone']],
    ['1.36', { timeZone: '' }, ['Invalid spec.timeZone']],
    ['1.28', zoned, []],
    ['1.28', both, ['Invalid spec.schedule']],
    ['1.29', zoned, ['Invalid spec.schedule']],
  ]
  for (const [version, spec, faults] of cases)
    assert.deepEqual(createBy(cronJob, sent(spec), { version }).faults, faults, JSON.stringify([version, spec]))
  const old = createBy(cronJob, sent(zoned), { version: '1.28' }).object
  assert.deepEqual(updateBy(cronJob, old, sent({ ...zoned, suspend: true }), newest).faults, [])
  assert.deepEqual(updateBy(cronJob, old, sent(both), newest).faults, ['Invalid spec.schedule'])
})

const set = (spec: JsonObject = {}, name = 's'): JsonObject => ({
  metadata: { name },
  spec: selecting({ serviceName: 's', ...spec }),
})

test('StatefulSets: ordinals, claim retention and maxUnavailable are validated', () => {
  const retention = (spec: JsonObject, version: EmulatedVersion) =>
    (asJson(createBy(statefulSet, set(spec), { version }).object).spec as JsonObject)
      .persistentVolumeClaimRetentionPolicy
  const retain = { whenDeleted: 'Retain', whenScaled: 'Retain' }
  const policy = 'persistentVolumeClaimRetentionPolicy'
  assert.deepEqual(retention({}, '1.26'), undefined)
  assert.deepEqual(retention({}, '1.27'), retain)
  assert.deepEqual(retention({ [policy]: { whenDeleted: 'Delete' } }, '1.27'), { ...retain, whenDeleted: 'Delete' })
  const faults = (spec: JsonObject) => createBy(statefulSet, set(spec), { version: '1.36', gates }).faults
  const gates = new Set([...defaultGatesOf('1.36'), 'MaxUnavailableStatefulSet' as const])
  const rolling = (maxUnavailable: number | string) => ({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
  })
  const place = 'Invalid spec.updateStrategy.rollingUpdate.maxUnavailable'
  assert.deepEqual(faults({ ordinals: { start: -1 } }), ['Invalid spec.ordinals.start'])
  assert.deepEqual(faults({ [policy]: { whenDeleted: 'Keep' } }), [`NotSupported spec.${policy}.whenDeleted`])
  for (const [value, expected] of [
    [2, []],
    ['50%', []],
    [0, [place]],
    ['0%', [place]],
    ['101%', [place]],
    [-1, [place]],
  ] as const)
    assert.deepEqual(faults(rolling(value)), expected, String(value))
  const strategy = (asJson(createBy(statefulSet, set(), { version: '1.36', gates }).object).spec as JsonObject)
    .updateStrategy
  assert.deepEqual(strategy, { type: 'RollingUpdate', rollingUpdate: { partition: 0, maxUnavailable: 1 } })
})

test('StatefulSets: the Kubernetes version determines which fields are mutable and how names and templates are validated', () => {
  const change = (version: EmulatedVersion, spec: JsonObject) =>
    updateBy(statefulSet, createBy(statefulSet, set(), { version }).object, set(spec), { version }).faults
  assert.deepEqual(change('1.27', { ordinals: { start: 3 } }), [])
  assert.deepEqual(change('1.27', { persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } }), [])
  assert.deepEqual(change('1.31', { revisionHistoryLimit: 3 }), ['Forbidden spec'])
  assert.deepEqual(change('1.34', { revisionHistoryLimit: 3 }), [])
  assert.deepEqual(change('1.34', { template: podsOf({ containers: [] }) }), ['Required spec.template.spec.containers'])
  const faults = (version: EmulatedVersion, spec: JsonObject = {}, name = 's') =>
    createBy(statefulSet, set(spec, name), { version }).faults
  assert.deepEqual([faults('1.26', {}, 'a.b'), faults('1.27', {}, 'a.b')], [[], ['Invalid metadata.name']])
  assert.deepEqual(
    [faults('1.31', { serviceName: 'A' }), faults('1.34', { serviceName: 'A' })],
    [[], ['Invalid spec.serviceName']],
  )
  const claim = {
    metadata: { name: 'v' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  }
  const mounting = {
    template: podsOf({ containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] }] }),
  }
  assert.deepEqual([faults('1.31', mounting), faults('1.34', { ...mounting, volumeClaimTemplates: [claim] })], [[], []])
  assert.deepEqual(faults('1.34', mounting), ['NotFound spec.template.spec.containers[0].volumeMounts[0].name'])
  assert.deepEqual(faults('1.34', { volumeClaimTemplates: [{ ...claim, spec: {} }] }), [
    'Required spec.volumeClaimTemplates[0].spec.accessModes',
    'Required spec.volumeClaimTemplates[0].spec.resources[storage]',
  ])
})

test('later Kubernetes versions validate terminating pod counts, ControllerRevisions, disruption budgets and autoscalers', () => {
  for (const kind of [deployment, replicaSet]) {
    const { object } = createBy(kind, { metadata: { name: 'a' }, spec: selecting() }, newest)
    const sent = { ...asJson(object), status: { replicas: 0, terminatingReplicas: -1 } }
    const { faults } = updateBy(kind, object, sent, { version: '1.36', subresource: 'status' })
    assert.deepEqual(faults, ['Invalid status.terminatingReplicas'])
  }
  const revision = { metadata: { name: 'r' }, revision: 1, data: 'x' }
  assert.deepEqual(createBy(controllerRevision, revision, { version: '1.30' }).faults, [])
  assert.deepEqual(createBy(controllerRevision, revision, newest).faults, ['Required data'])
  const budget = { metadata: { name: 'b' }, spec: { minAvailable: 1, unhealthyPodEvictionPolicy: 'Sometimes' } }
  assert.deepEqual(createBy(podDisruptionBudget, budget, newest).faults, [
    'NotSupported spec.unhealthyPodEvictionPolicy',
  ])
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }
  const scaler = (spec: JsonObject): JsonObject => ({
    metadata: { name: 'h' },
    spec: { scaleTargetRef: target, maxReplicas: 2, ...spec },
  })
  const faultsOf = (spec: JsonObject, version: EmulatedVersion = '1.36') =>
    createBy(horizontalPodAutoscaler, scaler(spec), { version }).faults
  const group = 'Invalid spec.scaleTargetRef.apiVersion'
  assert.deepEqual(faultsOf({ behavior: { scaleUp: { tolerance: '-0.1' } } }), [
    'Invalid spec.behavior.scaleUp.tolerance',
  ])
  assert.deepEqual(
    [faultsOf({ maxReplicas: 0 }).at(-1), faultsOf({ maxReplicas: 0 }, '1.34')],
    ['Required spec.maxReplicas', ['Invalid spec.maxReplicas']],
  )
  const core = { scaleTargetRef: { ...target, apiVersion: '' } }
  assert.deepEqual([faultsOf(core, '1.31'), faultsOf(core)], [[], [group]])
  const old = createBy(horizontalPodAutoscaler, scaler(core), { version: '1.31' }).object
  assert.deepEqual(updateBy(horizontalPodAutoscaler, old, scaler({ ...core, maxReplicas: 3 }), newest).faults, [])
})

test('since Kubernetes 1.33, autoscaling/v1 preserves the tolerance', () => {
  const { object } = createBy(
    horizontalPodAutoscaler,
    { metadata: { name: 'h' }, spec: { maxReplicas: 2, behavior: { scaleUp: { tolerance: '0.5' } } } },
    newest,
  )
  const carried = (version: EmulatedVersion) => {
    const { metadata } = horizontalPodAutoscalerV1.conversion!.fromStored(object as never, ruleContext.vendor, version)
    return JSON.parse(metadata.annotations?.['autoscaling.alpha.orch.io/behavior'] ?? '').ScaleUp.Tolerance as unknown
  }
  assert.deepEqual([carried('1.31'), carried('1.33')], [undefined, '500m'])
})
