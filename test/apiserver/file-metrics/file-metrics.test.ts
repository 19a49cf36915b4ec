/** Tests `--metrics-file`: the custom and external metrics APIs, the autoscalers that read them, and invalid files. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serve, serveUp } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
const directory = mkdtempSync(join(tmpdir(), 'orch-metrics-'))
const file = join(directory, 'metrics.yaml')
const custom = '/apis/custom.metrics.k8s.io/v1beta2'
const external = '/apis/external.metrics.k8s.io/v1beta1'
let server: Restartable
let client: Client

const content = ({ requests = 200, load = 20, depth = 30 } = {}) => `
custom:
- { metric: http_requests, value: 1500m, namespace: ${namespace}, name: idle }
- { metric: http_requests, value: "${requests}", namespace: ${namespace}, selector: "app in (web, other)" }
- { metric: load, value: "${load}", kind: Service, name: front, labels: { zone: a } }
- { metric: replicas_wanted, value: "7", apiVersion: apps/v1, kind: Deployment }
- { metric: temperature, value: "40", kind: Node }
- { metric: tenants, value: "3", kind: Namespace, name: ${namespace} }
- { metric: bugs, value: "9", apiVersion: example.com/v1, kind: Unknown }
external:
- { metric: queue_depth, value: "${depth}", labels: { queue: orders } }
- { metric: queue_depth, value: "500", labels: { queue: returns } }
- { metric: elsewhere, value: "1", namespace: other }
`

before(async () => {
  writeFileSync(file, content())
  const loops = '*,deployment,replicaset,horizontalpodautoscaling'
  const period = '--horizontal-pod-autoscaler-sync-period=1s'
  const downscale = '--horizontal-pod-autoscaler-downscale-stabilization=0s'
  server = await serveUp(owner, [
    '--profile=kubernetes',
    '--emulated-version=1.34',
    '--nodes=1',
    `--controllers=${loops}`,
    `--metrics-file=${file}`,
    '--authorization-mode=Node,RBAC',
    period,
    downscale,
  ])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
})

after(() => rmSync(directory, { recursive: true }))

interface Item {
  readonly describedObject?: object
  readonly metric?: object
  readonly metricName?: string
  readonly metricLabels?: object
  readonly timestamp?: string
  readonly value?: string
}

const read = async (path: string, query?: Record<string, string>) =>
  await client.read<{ kind?: string; items: readonly Item[] }>(path, query && { query })

const valuesOf = async (path: string, query?: Record<string, string>) =>
  (await read(path, query)).items.map(({ value }) => value)

async function deploy(app: string): Promise<void> {
  const template = {
    metadata: { labels: { app } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  }
  const spec = { replicas: 1, selector: { matchLabels: { app } }, template }
  await client.create(kinds.Deployment, { metadata: { name: app, namespace }, spec } as never)
}

async function autoscale(app: string, metric: object): Promise<void> {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: app }
  const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 9, metrics: [metric] }
  await client.create(kinds.HorizontalPodAutoscaler, { metadata: { name: app, namespace }, spec } as never)
}

async function replicas(app: string, expected: number): Promise<void> {
  await until(
    () => client.get(kinds.Deployment, { namespace, name: app }),
    ({ spec }) => spec?.replicas === expected,
  )
}

test('the custom metrics API reports the metrics of pods and of other objects', async () => {
  for (const name of ['idle', 'other']) {
    const spec = { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] }
    await client.create(kinds.Pod, { metadata: { name, namespace, labels: { app: name } }, spec } as never)
  }
  const pods = `${custom}/namespaces/${namespace}/pods`
  const list = await read(`${pods}/*/http_requests`, { labelSelector: 'app in (idle, other)' })
  assert.equal(list.kind, 'MetricValueList')
  const [idle] = list.items
  assert.match(idle?.timestamp ?? '', /^\d{4}-\d\d-\d\dT[\d:]{8}Z$/)
  assert.deepEqual(
    list.items.map(({ timestamp: _, ...item }) => item),
    [
      ['idle', '1500m'],
      ['other', '200'],
    ].map(([name, value]) => ({
      describedObject: { kind: 'Pod', namespace, name, apiVersion: 'v1' },
      metric: { name: 'http_requests', selector: null },
      value,
    })),
  )
  assert.deepEqual(await valuesOf(`${pods}/other/http_requests`), ['200'])
  await until(
    () => client.list(kinds.Node),
    ({ items }) => items.length > 0,
  )
  assert.deepEqual(await valuesOf(`${custom}/nodes/node-1/temperature`), ['40'])
  assert.deepEqual(await valuesOf(`${custom}/namespaces/${namespace}/metrics/tenants`), ['3'])

  const service = { metadata: { name: 'front', namespace }, spec: { ports: [{ port: 80 }] } }
  await client.create(kinds.Service, service as never)
  const load = `${custom}/namespaces/${namespace}/services/front/load`
  assert.deepEqual((await read(load)).items[0]?.metric, { name: 'load', selector: { matchLabels: { zone: 'a' } } })
  assert.deepEqual(await valuesOf(load, { metricLabelSelector: 'zone=b' }), [])

  const notFound = { code: 404, reason: 'NotFound' }
  await assert.rejects(read(`${pods}/*/none`), {
    ...notFound,
    message: /the server could not find the metric none for pods$/,
  })
  await assert.rejects(read(`${pods}/idle/load`), { message: /the metric load for pods idle$/ })
  await assert.rejects(read(`${pods}/absent/http_requests`), { ...notFound, message: /pods "absent" not found/ })
  await assert.rejects(read(`${custom}/pods/*/http_requests`), notFound)
  await assert.rejects(read(`${pods}/idle`), notFound)
  await assert.rejects(read(`${pods}/*/http_requests`, { labelSelector: '!!' }), { code: 400 })
})

test('the external metrics API selects metrics by namespace and labels', async () => {
  const metrics = `${external}/namespaces/${namespace}`
  const { kind, items } = await read(`${metrics}/queue_depth`, { labelSelector: 'queue=orders' })
  assert.equal(kind, 'ExternalMetricValueList')
  assert.deepEqual(
    items.map(({ timestamp: _, ...item }) => item),
    [{ metricName: 'queue_depth', metricLabels: { queue: 'orders' }, value: '30' }],
  )
  assert.deepEqual(await valuesOf(`${metrics}/queue_depth`), ['30', '500'])
  assert.deepEqual(await valuesOf(`${external}/namespaces/other/elsewhere`), ['1'])
  await assert.rejects(read(`${metrics}/elsewhere`), { code: 404, message: /could not find the metric elsewhere/ })
})

test('discovery lists both groups and their metrics', async () => {
  const namesAt = async (path: string) =>
    (await client.read<{ resources: readonly { name: string }[] }>(path)).resources.map(({ name }) => name)
  assert.deepEqual(await namesAt(custom), [
    'pods/http_requests',
    'services/load',
    'deployments.apps/replicas_wanted',
    'nodes/temperature',
    'namespaces/tenants',
  ])
  assert.deepEqual(await namesAt(external), ['queue_depth', 'elsewhere'])
  const { groups } = await client.read<{ groups: readonly { name: string }[] }>('/apis')
  const names = groups.map(({ name }) => name)
  assert.ok(names.includes('custom.metrics.k8s.io') && names.includes('external.metrics.k8s.io'), String(names))
  const { paths } = await client.read<{ paths: readonly string[] }>('/')
  assert.ok(paths.includes(custom) && paths.includes(external))
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
  const { text } = await server.client().get('/apis', { accept })
  assert.match(text, /"subresource":"http_requests","responseKind":\{[^}]*"kind":"MetricValueList"\}/)
})

test('RBAC controls access to each metric, and metrics are read-only', async () => {
  const path = `${custom}/namespaces/${namespace}/pods/*/http_requests`
  const user = new Client(server.transport('bob-token'))
  await assert.rejects(user.read(path), {
    code: 403,
    message: /cannot get resource "pods\/http_requests" in API group "custom.metrics.k8s.io"/,
  })
  await assert.rejects(user.read(`${external}/namespaces/${namespace}/queue_depth`), { code: 403 })
  for (const method of ['POST', 'DELETE'] as const)
    assert.equal((await server.client().send(path, { method })).status, 405)
  assert.equal((await server.client().get(`${custom}/watch/nodes/node-1/temperature`)).status, 405)
})

test('autoscalers scale on Pods, Object and External metrics from the file and react to changes', async () => {
  const averageValue = (value: string) => ({ type: 'AverageValue', averageValue: value })
  for (const app of ['web', 'back', 'work']) await deploy(app)
  await autoscale('web', { type: 'Pods', pods: { metric: { name: 'http_requests' }, target: averageValue('100') } })
  const describedObject = { apiVersion: 'v1', kind: 'Service', name: 'front' }
  const object = { describedObject, metric: { name: 'load' }, target: averageValue('5') }
  await autoscale('back', { type: 'Object', object })
  const metric = { name: 'queue_depth', selector: { matchLabels: { queue: 'orders' } } }
  await autoscale('work', { type: 'External', external: { metric, target: averageValue('10') } })
  await Promise.all([replicas('back', 4), replicas('work', 3)])
  await until(
    () => client.get(kinds.Deployment, { namespace, name: 'web' }),
    ({ spec }) => (spec?.replicas ?? 0) > 1,
  )
  writeFileSync(file, content({ requests: 10, load: 10, depth: 50 }))
  await Promise.all([replicas('web', 1), replicas('back', 2), replicas('work', 5)])
})

test('an invalid metrics file does not replace the current metrics', async () => {
  const depth = async () => (await valuesOf(`${external}/namespaces/${namespace}/queue_depth`))[0]
  writeFileSync(file, 'external:\n- metric: queue_depth\n  value: much\n')
  await until(
    async () => server.output(),
    (log) => /--metrics-file: .*metrics\.yaml:3:3: external\[0\]\.value: /.test(log),
  )
  assert.equal(await depth(), '50')
  writeFileSync(file, content({ depth: 60 }))
  await until(depth, (value) => value === '60')
})

test('a server does not start with an invalid metrics file, and the error contains the position', async (t) => {
  const bad = join(directory, 'bad.yaml')
  const many = `external:\n${'- { metric: a, value: "1" }\n'.repeat(1001)}`
  const faults: { readonly [text: string]: RegExp } = {
    'custom:\n- metric: a\n  value: "1"\n  selector: "!!"\n':
      /--metrics-file: .*bad\.yaml:4:3: custom\[0\]\.selector: /,
    'custom:\n- value: "1"\n': /bad\.yaml:2:3: custom\[0\]\.metric: Required value/,
    'external:\n- { metric: a/b, value: "1" }\n': /bad\.yaml:2:5: external\[0\]\.metric: .*may not contain '\/'/,
    'custom: 5\n': /bad\.yaml:1:1: custom: .*expected array/,
    'others: []\n': /bad\.yaml:1:\d+: unknown field "others"/,
    '- a\n': /bad\.yaml:1:1: the file must contain an object/,
    [many]: /bad\.yaml:1:1: the file must have at most 1000 entries/,
  }
  for (const [text, fault] of Object.entries(faults)) {
    writeFileSync(bad, text)
    await assert.rejects(serve(t, [`--metrics-file=${bad}`]), fault)
  }
  await assert.rejects(serve(t, ['--metrics-file=/none']), /--metrics-file: cannot read \/none/)
})

test('under the profile orch, the names of the metrics groups end with orch.io; without a file, neither group exists', async (t) => {
  const good = join(directory, 'good.yaml')
  writeFileSync(good, '{"external": [{"metric": "a", "value": 5}]}')
  const served = await serve(t, [`--metrics-file=${good}`])
  const path = '/apis/external.metrics.orch.io/v1beta1/namespaces/default/a'
  const { body } = await served.client().get(path)
  assert.deepEqual(body.items[0]?.value, '5')
  await served.restart([])
  assert.equal((await served.client().get(path)).status, 404)
})
