/**
 * Tests the metrics API that `orch up` serves: the usage of nodes and pods, and an autoscaler that uses these
 * metrics.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { serve, serveUp } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
const group = '/apis/metrics.k8s.io/v1beta1'
let client: Client

before(async () => {
  const loops = '*,deployment,replicaset,horizontalpodautoscaling'
  const period = '--horizontal-pod-autoscaler-sync-period=1s'
  const server = await serveUp(owner, ['--profile=kubernetes', '--nodes=2', `--controllers=${loops}`, period])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
})

interface Metrics {
  readonly kind?: string
  readonly metadata: { readonly name?: string; readonly labels?: object }
  readonly timestamp?: string
  readonly window?: string
  readonly usage?: object
  readonly containers?: readonly { readonly name: string; readonly usage: object }[]
}

const read = async (path: string, query?: Record<string, string>) =>
  await client.read<Metrics & { readonly items: readonly Metrics[] }>(`${group}/${path}`, query && { query })

async function run(name: string, { app, annotations, spec }: { app: string; annotations?: object; spec?: object }) {
  const metadata = { name, namespace, labels: { app }, annotations }
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m', memory: '64Mi' } } }]
  await client.create(kinds.Pod, { metadata, spec: { nodeName: 'node-1', containers, ...spec } } as never)
  await until(
    () => client.get(kinds.Pod, { namespace, name }),
    (pod: Pod) => pod.status?.phase === 'Running',
  )
}

test('the metrics API reports the usage of pods by name and by label selector', async () => {
  const annotations = { 'simulation.kubernetes.io/cpu-usage': '250m', 'simulation.kubernetes.io/memory-usage': '3Mi' }
  await run('busy', { app: 'busy', annotations })
  await run('idle', { app: 'idle' })
  const busy = await read(`namespaces/${namespace}/pods/busy`)
  assert.equal(busy.kind, 'PodMetrics')
  assert.deepEqual(busy.metadata.labels, { app: 'busy' })
  assert.deepEqual(busy.containers, [{ name: 'c', usage: { cpu: '250m', memory: '3072Ki' } }])
  assert.match(busy.timestamp ?? '', /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/)
  const { items } = await read(`namespaces/${namespace}/pods`, { labelSelector: 'app in (idle, other)' })
  assert.deepEqual(
    items.map(({ metadata, containers }) => [metadata.name, containers]),
    [['idle', [{ name: 'c', usage: { cpu: '100m', memory: '65536Ki' } }]]],
  )
  await assert.rejects(read(`namespaces/${namespace}/pods/none`), /pods.metrics.k8s.io "none" not found/)
  await assert.rejects(read('pods', { fieldSelector: 'metadata.name=busy' }), /do not support field selectors/)
})

test('the metrics API reports the usage of each ready node', async () => {
  const { items } = await until(
    () => read('nodes'),
    (list) => list.items.length === 2,
  )
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['node-1', 'node-2'],
  )
  assert.deepEqual((await read('nodes/node-2')).usage, { cpu: '0m', memory: '0Ki' })
  await assert.rejects(read('nodes/node-9'), /nodes.metrics.k8s.io "node-9" not found/)
})

test('an autoscaler scales a Deployment according to the resource usage of its simulated pods', async () => {
  const template = {
    metadata: { labels: { app: 'web' }, annotations: { 'simulation.kubernetes.io/cpu-usage': '300m' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] },
  }
  const selector = { matchLabels: { app: 'web' } }
  const metadata = { name: 'web', namespace }
  await client.create(kinds.Deployment, { metadata, spec: { replicas: 1, selector, template } } as never)
  const target = { type: 'Utilization', averageUtilization: 100 }
  const spec = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    maxReplicas: 3,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
  }
  await client.create(kinds.HorizontalPodAutoscaler, { metadata, spec } as never)
  const scaled = await until(
    () => client.get(kinds.HorizontalPodAutoscaler, { namespace, name: 'web' }),
    ({ status }) => status?.desiredReplicas === 3,
  )
  const { averageUtilization, averageValue } = scaled.status?.currentMetrics?.[0]?.resource?.current ?? {}
  assert.deepEqual([averageUtilization, averageValue], [300, '300m'])
})

test('a server without control loops serves no metrics API', async (t) => {
  const server = await serve(t, ['--profile=kubernetes'])
  await assert.rejects(new Client(server.transport()).read(`${group}/nodes`), { code: 404 })
})
