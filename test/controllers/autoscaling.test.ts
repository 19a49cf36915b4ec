/** Autoscalers: what they ask for by the metrics of an aggregated server, and what they say without one. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import type { Transport } from '../../src/client/transport.ts'
import { autoscalers } from '../../src/controllers/autoscaling/horizontal-pod-autoscaling.ts'
import { replicasFor } from '../../src/controllers/autoscaling/resource-usage.ts'
import { limitReplicas } from '../../src/controllers/autoscaling/scaling-limits.ts'
import { deployments, pods } from '../../src/controllers/workloads/resource-types.ts'
import type { HorizontalPodAutoscaler } from '../../src/kinds/autoscaling/horizontal-pod-autoscaler.ts'
import type { Pod } from '../../src/kinds/core/pod.ts'
import { timestamp } from '../../src/model/object.ts'
import { type LoopServer, loopServer } from '../tools/loop-manager.ts'
import { until } from '../tools/until.ts'

const namespace = 'default'
const endings: (() => Promise<void>)[] = []
let server: LoopServer

before(async () => {
  server = await loopServer({ after: (end) => endings.push(end) }, ['--disable-admission-plugins=ServiceAccount'])
})
after(async () => {
  for (const end of endings) await end()
})
afterEach(async () => {
  await server.end()
})

const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] }

async function makeTarget(app: string, replicas: number): Promise<void> {
  const template = { metadata: { labels: { app } }, spec }
  const selector = { matchLabels: { app } }
  const metadata = { name: app, namespace }
  await server.client.create(deployments, { metadata, spec: { replicas, selector, template } } as never)
  for (let i = 0; i < replicas; i++) {
    const name = `${app}-${i}`
    await server.client.create(pods, { metadata: { name, namespace, labels: { app } }, spec } as never)
    const past = timestamp(systemClock.now() - 3_600_000)
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: past }]
    const patch = { merge: { status: { phase: 'Running', startTime: past, conditions } } }
    await server.client.patch(pods, { namespace, name }, { patch, subresource: 'status' })
  }
}

async function makeAutoscaler(name: string, more: object = {}): Promise<void> {
  const metrics = [
    { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
  ]
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name }
  const object = { metadata: { name, namespace }, spec: { scaleTargetRef, maxReplicas: 10, metrics, ...more } }
  await server.client.create(autoscalers, object as never)
}

/** The metrics API of another server: every pod uses so much. */
const measuring =
  (cpu: () => string) =>
  (send: Transport): Transport =>
  async (request) => {
    if (!request.path.startsWith('/apis/metrics.orch.io/v1beta1/')) return await send(request)
    const app = /app%3D([a-z]+)/.exec(request.path)?.[1] ?? ''
    const { items } = await server.client.list(pods, { namespace, labelSelector: `app=${app}` })
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

async function untilStatus(name: string, wanted: (status: NonNullable<HorizontalPodAutoscaler['status']>) => boolean) {
  return await until(
    () => server.client.get(autoscalers, { namespace, name }),
    ({ status = {} }) => wanted(status),
  )
}

const reasonOf = ({ conditions = [] }: NonNullable<HorizontalPodAutoscaler['status']>, type: string) =>
  conditions.find((each) => each.type === type)?.reason

test('without a metrics API the condition says so, and the limits are kept all the same', async () => {
  server.run(['horizontalpodautoscaling'])
  await makeTarget('bare', 2)
  await makeAutoscaler('bare')
  const { status } = await untilStatus('bare', (each) => reasonOf(each, 'ScalingActive') === 'FailedGetResourceMetric')
  assert.match(status!.conditions!.find(({ type }) => type === 'ScalingActive')!.message!, /no metrics API/)
  assert.equal(reasonOf(status!, 'AbleToScale'), 'SucceededGetScale')
  await makeTarget('few', 1)
  await makeAutoscaler('few', { minReplicas: 3 })
  await untilStatus('few', ({ desiredReplicas }) => desiredReplicas === 3)
  assert.equal((await server.client.get(deployments, { namespace, name: 'few' })).spec?.replicas, 3)
  await makeAutoscaler('gone')
  await untilStatus('gone', (each) => reasonOf(each, 'AbleToScale') === 'FailedGetScale')
})

test('a target is scaled by what its pods use', async () => {
  server.run(['horizontalpodautoscaling'], { through: measuring(() => '100m') })
  await makeTarget('busy', 2)
  await makeAutoscaler('busy')
  const { status } = await untilStatus('busy', ({ desiredReplicas }) => desiredReplicas === 4)
  assert.equal((await server.client.get(deployments, { namespace, name: 'busy' })).spec?.replicas, 4)
  assert.equal(status?.currentMetrics?.[0]?.resource?.current?.averageUtilization, 100)
  assert.equal(reasonOf(status!, 'ScalingActive'), 'ValidMetricFound')
  assert.equal(reasonOf(status!, 'AbleToScale'), 'SucceededRescale')
})

test('how many replicas a usage calls for', () => {
  const past = '2030-01-01T00:00:00Z'
  const pod = (name: string, phase = 'Running') =>
    ({
      metadata: { name },
      spec,
      status: { phase, startTime: past, conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: past }] },
    }) as unknown as Pod
  const ask = (usage: [string, number][], all: Pod[], replicas = all.length) =>
    replicasFor({
      ...{ pods: all, usage: new Map(usage), resource: 'cpu', target: { utilization: 50 }, replicas },
      ...{ tolerance: 0.1, now: Date.parse('2030-01-02T00:00:00Z') },
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
})

test('how far one goes at once, with and without a behaviour', () => {
  const now = 10_000_000
  const base = { min: 1, max: 100, advice: [], changes: [], downscaleWindowMs: 300_000, now, behavior: undefined }
  assert.deepEqual(limitReplicas({ ...base, current: 10, advised: 50 }), {
    ...{ replicas: 20, isStabilized: false, limitedBy: 'ScaleUpLimit' },
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
