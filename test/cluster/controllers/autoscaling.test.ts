/**
 * Tests autoscaling with the metrics of an aggregated server, and the conditions that are set when there is no metrics
 * API.
 */

import assert from 'node:assert/strict'
import { afterEach, before, test } from 'node:test'
import type { HorizontalPodAutoscaler } from '../../../src/api/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import { timestamp } from '../../../src/api/model/object.ts'
import { systemClock } from '../../../src/base/time/clock.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import type { Transport } from '../../../src/client/requests/transport.ts'
import { replicasFor, usageOf } from '../../../src/cluster/controllers/autoscaling/resource-usage.ts'
import { limitReplicas } from '../../../src/cluster/controllers/autoscaling/scaling-limits.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type LoopServer, loopServer } from '../../support/loop-manager.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
let server: LoopServer

before(async () => {
  server = await loopServer(owner, ['--disable-admission-plugins=ServiceAccount'])
})
afterEach(async () => {
  await server.end()
})

const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] }

async function makeTarget(app: string, replicas: number): Promise<void> {
  const template = { metadata: { labels: { app } }, spec }
  const selector = { matchLabels: { app } }
  const metadata = { name: app, namespace }
  await server.client.create(kinds.Deployment, { metadata, spec: { replicas, selector, template } } as never)
  for (let i = 0; i < replicas; i++) {
    const name = `${app}-${i}`
    await server.client.create(kinds.Pod, { metadata: { name, namespace, labels: { app } }, spec } as never)
    const past = timestamp(systemClock.now() - 3_600_000)
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: past }]
    const patch = { merge: { status: { phase: 'Running', startTime: past, conditions } } }
    await server.client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'status' })
  }
}

async function makeAutoscaler(name: string, more: object = {}): Promise<void> {
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ]
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name }
  const object = { metadata: { name, namespace }, spec: { scaleTargetRef, maxReplicas: 10, metrics, ...more } }
  await server.client.create(kinds.HorizontalPodAutoscaler, object as never)
}

/** Simulates a metrics API that reports the given CPU usage for every pod. */
const measuring =
  (cpu: () => string) =>
  (send: Transport): Transport =>
  async (request) => {
    if (!request.path.startsWith('/apis/metrics.orch.io/v1beta1/')) return await send(request)
    const app = /app%3D([a-z]+)/.exec(request.path)?.[1] ?? ''
    const { items } = await server.client.list(kinds.Pod, { namespace, labelSelector: `app=${app}` })
    const containers = [{ name: 'c', usage: { cpu: cpu() } }]
    const measured = items.map(({ metadata: { name } }) => ({ metadata: { name, namespace }, containers }))
    const body = JSON.stringify({
      kind: 'PodMetricsList',
      apiVersion: 'metrics.orch.io/v1beta1',
      metadata: {},
      items: measured,
    })
    const chunks = async function* () {
      yield Buffer.from(body)
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: chunks() }
  }

/** Simulates other metrics APIs with fixed responses by path. */
const answering =
  (answers: { readonly [path: string]: object }, asked: string[] = []) =>
  (send: Transport): Transport =>
  async (request) => {
    if (!/^\/apis\/(custom|external)\.metrics\.orch\.io/.test(request.path)) return await send(request)
    asked.push(request.path)
    const found = Object.entries(answers).find(
      ([path]) => new URL(request.path, 'http://a').pathname === `/apis/${path}`,
    )
    if (found === undefined) return await send(request)
    const chunks = async function* () {
      yield Buffer.from(JSON.stringify(found[1]))
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: chunks() }
  }

const custom = 'custom.metrics.orch.io'
const external = 'external.metrics.orch.io/v1beta1/namespaces/default'

async function untilStatus(name: string, wanted: (status: NonNullable<HorizontalPodAutoscaler['status']>) => boolean) {
  return await until(
    () => server.client.get(kinds.HorizontalPodAutoscaler, { namespace, name }),
    ({ status = {} }) => wanted(status),
  )
}

const reasonOf = ({ conditions = [] }: NonNullable<HorizontalPodAutoscaler['status']>, type: string) =>
  conditions.find((each) => each.type === type)?.reason

test('an autoscaler without a metrics API reports the reason in a condition and still enforces the replica limits', async () => {
  server.run(['horizontalpodautoscaling'])
  await makeTarget('bare', 2)
  await makeAutoscaler('bare')
  const { status } = await untilStatus('bare', (each) => reasonOf(each, 'ScalingActive') === 'FailedGetResourceMetric')
  assert.match(status!.conditions!.find(({ type }) => type === 'ScalingActive')!.message!, /no metrics API/)
  assert.equal(reasonOf(status!, 'AbleToScale'), 'SucceededGetScale')
  await makeTarget('few', 1)
  await makeAutoscaler('few', { minReplicas: 3 })
  await untilStatus('few', ({ desiredReplicas }) => desiredReplicas === 3)
  assert.equal((await server.client.get(kinds.Deployment, { namespace, name: 'few' })).spec?.replicas, 3)
  await makeAutoscaler('gone')
  await untilStatus('gone', (each) => reasonOf(each, 'AbleToScale') === 'FailedGetScale')
})

test('an autoscaler scales its target according to the resource usage of the pods', async () => {
  server.run(['horizontalpodautoscaling'], { through: measuring(() => '100m') })
  await makeTarget('busy', 2)
  await makeAutoscaler('busy')
  const { status } = await untilStatus('busy', ({ desiredReplicas }) => desiredReplicas === 4)
  assert.equal((await server.client.get(kinds.Deployment, { namespace, name: 'busy' })).spec?.replicas, 4)
  assert.equal(status?.currentMetrics?.[0]?.resource?.current?.averageUtilization, 100)
  assert.equal(reasonOf(status!, 'ScalingActive'), 'ValidMetricFound')
  assert.equal(reasonOf(status!, 'AbleToScale'), 'SucceededRescale')
})

test('an autoscaler scales its target according to Pods, Object and External metrics', async () => {
  const asked: string[] = []
  const ofPods = ['pods-0', 'pods-1'].map((name) => ({ describedObject: { kind: 'Pod', name }, value: '20' }))
  const answers = {
    [custom]: { kind: 'APIGroup', versions: [{ version: 'v1beta1' }, { version: 'v1beta2' }] },
    [`${custom}/v1beta2/namespaces/default/pods/*/rate`]: { items: ofPods },
    [`${custom}/v1beta2/namespaces/default/deployments.apps/object/rate`]: { items: [{ value: '1500m' }] },
    [`${custom}/v1beta2/namespaces/default/metrics/rate`]: { items: [{ value: '70' }] },
    [`${external}/queue`]: { items: [{ value: '30' }, { value: '12' }] },
  }
  server.run(['horizontalpodautoscaling'], { through: answering(answers, asked) })
  const average = (averageValue: string) => ({ type: 'AverageValue', averageValue })
  const total = (value: string) => ({ type: 'Value', value })
  const metric = { name: 'rate' }
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'object' }
  const all = { apiVersion: 'v1', kind: 'Namespace', name: namespace }
  const selected = { name: 'queue', selector: { matchLabels: { topic: 'a' } } }
  const cases: [string, object, number, object][] = [
    ['pods', { type: 'Pods', pods: { metric, target: average('10') } }, 4, { averageValue: '20' }],
    [
      'object',
      { type: 'Object', object: { metric, describedObject: deployment, target: total('1') } },
      3,
      { value: '1500m' },
    ],
    [
      'whole',
      { type: 'Object', object: { metric, describedObject: all, target: average('10') } },
      4,
      { averageValue: '35' },
    ],
    ['outside', { type: 'External', external: { metric: selected, target: average('14') } }, 3, { averageValue: '21' }],
    ['sum', { type: 'External', external: { metric: { name: 'queue' }, target: total('41') } }, 2, { value: '42' }],
  ]
  for (const [name, each, wanted, current] of cases) {
    await makeTarget(name, 2)
    await makeAutoscaler(name, { metrics: [each] })
    const { status } = await untilStatus(name, ({ desiredReplicas }) => desiredReplicas === wanted)
    assert.equal(reasonOf(status!, 'ScalingActive'), 'ValidMetricFound', name)
    const [seen] = status?.currentMetrics ?? []
    assert.partialDeepStrictEqual((seen?.pods ?? seen?.object ?? seen?.external)?.current, current, name)
  }
  assert.ok(
    asked.some((path) => path.endsWith('/pods/*/rate?labelSelector=app%3Dpods')),
    asked.join('\n'),
  )
  assert.ok(
    asked.some((path) => path.endsWith('/queue?labelSelector=topic%3Da')),
    asked.join('\n'),
  )
})

test('an autoscaler that cannot read metrics reports the failure in a condition and scales nothing', async () => {
  const answers = {
    [custom]: { kind: 'APIGroup', versions: [{ version: 'v1beta1' }] },
    [`${custom}/v1beta1/namespaces/default/pods/*/odd`]: {
      items: [{ describedObject: { name: 'odd-0' }, value: 'many' }],
    },
    [`${external}/empty`]: { items: [] },
  }
  server.run(['horizontalpodautoscaling'], { through: answering(answers) })
  const target = { type: 'AverageValue', averageValue: '1' }
  const unknown = { apiVersion: 'example.com/v1', kind: 'Unknown', name: 'x' }
  const wrong = { name: 'queue', selector: { matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] } }
  const cases: [string, string, object, RegExp][] = [
    ['wrong', 'External', { external: { metric: wrong, target } }, /"Like" is not a valid label selector operator/],
    ['odd', 'Pods', { pods: { metric: { name: 'odd' }, target } }, /reports "many", which is not a quantity/],
    ['empty', 'External', { external: { metric: { name: 'empty' }, target } }, /no metrics returned from external/],
    [
      'kind',
      'Object',
      { object: { metric: { name: 'm' }, describedObject: unknown, target } },
      /no matches for kind "Unknown"/,
    ],
  ]
  for (const [name, type, source, message] of cases) {
    await makeTarget(name, 1)
    await makeAutoscaler(name, { metrics: [{ type, ...source }] })
    const { status } = await untilStatus(name, (each) => reasonOf(each, 'ScalingActive') === `FailedGet${type}Metric`)
    assert.match(status!.conditions!.find((each) => each.type === 'ScalingActive')!.message!, message)
    assert.equal(status?.desiredReplicas ?? 0, 0)
  }
  await server.end()
  server.run(['horizontalpodautoscaling'])
  await makeTarget('none', 1)
  await makeAutoscaler('none', { metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target } }] })
  const { status } = await untilStatus('none', (each) => reasonOf(each, 'ScalingActive') === 'FailedGetPodsMetric')
  assert.match(status!.conditions!.find((each) => each.type === 'ScalingActive')!.message!, /no custom metrics API/)
})

test('the recommendation of an autoscaler depends on the resource usage', () => {
  const past = '2030-01-01T00:00:00Z'
  const pod = (name: string, phase = 'Running') =>
    ({
      metadata: { name },
      spec,
      status: { phase, startTime: past, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: past }] },
    }) as unknown as Pod
  const ask = (usage: [string, number][], all: Pod[], resource = 'cpu') =>
    replicasFor({
      pods: all,
      usage: new Map(usage),
      resource,
      target: { utilization: 50 },
      replicas: all.length,
      tolerance: { up: 0.1, down: 0.1 },
      now: Date.parse('2030-01-02T00:00:00Z'),
    }).replicas
  const two = [pod('a'), pod('b')]
  assert.equal(
    ask(
      [
        ['a', 0.1],
        ['b', 0.1],
      ],
      two,
    ),
    4,
  )
  assert.equal(
    ask(
      [
        ['a', 0.05],
        ['b', 0.05],
      ],
      two,
    ),
    2,
    'at the target',
  )
  assert.equal(
    ask(
      [
        ['a', 0.054],
        ['b', 0.054],
      ],
      two,
    ),
    2,
    'within the tolerance',
  )
  assert.equal(
    ask(
      [
        ['a', 0.02],
        ['b', 0.02],
      ],
      two,
    ),
    1,
  )
  assert.equal(ask([['a', 0.02]], two), 2, 'one that is not measured may use all that it requests')
  assert.equal(ask([['a', 0.1]], two), 2, 'or nothing')
  assert.equal(ask([['a', 0.1]], [pod('a'), pod('b', 'Pending')]), 2, 'one that has not started uses nothing yet')
  assert.throws(() => ask([], two), /did not receive metrics/)
  const measured = { metadata: { name: 'a' }, containers: [{ name: 'c', usage: { cpu: '1' } }] }
  assert.equal(usageOf([measured], 'constructor').size, 0)
  assert.throws(() => ask([['a', 1]], two, 'constructor'), /missing request for constructor/)
})

test('the scale-up and scale-down steps of an autoscaler are limited, with or without a behavior', () => {
  const now = 10_000_000
  const base = { min: 1, max: 100, advice: [], changes: [], downscaleWindowMs: 300_000, now, behavior: undefined }
  assert.deepEqual(limitReplicas({ ...base, current: 10, advised: 50 }), {
    replicas: 20,
    isStabilized: false,
    limitedBy: 'ScaleUpLimit',
  })
  assert.equal(limitReplicas({ ...base, current: 1, advised: 50 }).replicas, 4)
  assert.equal(limitReplicas({ ...base, current: 10, advised: 200, max: 15 }).limitedBy, 'TooManyReplicas')
  const advice = [
    { at: now - 200_000, replicas: 8 },
    { at: now - 400_000, replicas: 9 },
  ]
  assert.deepEqual(limitReplicas({ ...base, current: 10, advised: 2, advice }), { replicas: 8, isStabilized: true })
  const behavior = {
    scaleUp: { policies: [{ type: 'Pods', value: 4, periodSeconds: 60 }], stabilizationWindowSeconds: 0 },
    scaleDown: { policies: [{ type: 'Percent', value: 50, periodSeconds: 60 }], stabilizationWindowSeconds: 0 },
  }
  const changes = [{ at: now - 30_000, replicas: 3 }]
  assert.equal(limitReplicas({ ...base, current: 10, advised: 50, behavior }).replicas, 14)
  assert.equal(limitReplicas({ ...base, current: 10, advised: 50, behavior, changes }).replicas, 11)
  assert.equal(limitReplicas({ ...base, current: 10, advised: 1, behavior }).replicas, 5)
  const still = { ...behavior, scaleDown: { ...behavior.scaleDown, selectPolicy: 'Disabled' } }
  assert.equal(limitReplicas({ ...base, current: 10, advised: 1, behavior: still }).replicas, 10)
})
