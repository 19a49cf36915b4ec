/** Tests Metric objects: files in KWOK's format determine the metrics that simulated nodes serve. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Json } from '../../../src/api/json/json.ts'
import { runToCompletion } from '../../../src/base/concurrency/time-slice.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import {
  containerSubject,
  type Measurements,
  objectSubject,
} from '../../../src/cluster/nodes/kwok/expression-functions.ts'
import { readMetric } from '../../../src/cluster/nodes/kwok/metric-objects.ts'
import { metricText } from '../../../src/cluster/nodes/kwok/metric-text.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUpWithThread } from '../../support/in-process.ts'
import { kubectl as runKubectl } from '../../support/kubectl.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
let server: Restartable
let client: Client

const kubectl = (args: readonly string[], input = '') => runKubectl(server, args, input)

before(async () => {
  server = await serveUpWithThread(owner, ['--profile=kubernetes', '--nodes=2'])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const resources = { requests: { cpu: '500m', memory: '64Mi' } }
  const containers = [
    { name: 'main', image: 'i', resources },
    { name: 'side', image: 'i' },
  ]
  for (const name of ['web', 'other'])
    await client.create(kinds.Pod, { metadata: { name, namespace }, spec: { nodeName: 'node-1', containers } } as never)
  await until(
    () => client.list(kinds.Pod, { namespace }),
    ({ items }) => items.length === 2 && items.every(({ status }) => status?.phase === 'Running'),
  )
  await untilTrue(async () => (await kubectl(['get', 'metrics.kwok.x-k8s.io'])).code === 0)
})

test('a Metric object determines the metrics at a path of each node', { timeout: 60_000 }, async () => {
  const file = `
kind: Metric
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: resource}
spec:
  path: "/metrics/nodes/{nodeName}/metrics/resource"
  metrics:
  - name: pod_memory_working_set_bytes
    dimension: pod
    help: |
      Working set of the pod
    kind: gauge
    labels:
    - {name: namespace, value: 'pod.metadata.namespace'}
    - {name: pod, value: 'pod.metadata.name'}
    value: 'pod.Usage("memory")'
  - name: container_cpu_requested
    dimension: container
    kind: gauge
    labels:
    - {name: container, value: 'container.name'}
    - {name: pod, value: 'pod.metadata.name'}
    value: '"cpu" in container.resources.requests ? Quantity(container.resources.requests["cpu"]) : 0.0'
  - name: node_pods_started
    kind: counter
    value: 'StartedContainersTotal(node)'
  - name: node_name
    kind: gauge
    labels: [{name: node, value: node.metadata.name}]
    value: '1'
`
  assert.equal((await kubectl(['apply', '-f', '-'], file)).stderr, '')
  const raw = async (node: string, path: string) =>
    await kubectl(['get', '--raw', `/api/v1/nodes/${node}/proxy${path}`])
  const first = await until(
    () => raw('node-1', '/metrics/nodes/node-1/metrics/resource'),
    ({ code }) => code === 0,
  )
  assert.deepEqual(first.stdout.trim().split('\n').sort(), [
    '# HELP pod_memory_working_set_bytes Working set of the pod',
    '# TYPE container_cpu_requested gauge',
    '# TYPE node_name gauge',
    '# TYPE node_pods_started counter',
    '# TYPE pod_memory_working_set_bytes gauge',
    'container_cpu_requested{container="main",pod="other"} 0.5',
    'container_cpu_requested{container="main",pod="web"} 0.5',
    'container_cpu_requested{container="side",pod="other"} 0.1',
    'container_cpu_requested{container="side",pod="web"} 0.1',
    'node_name{node="node-1"} 1',
    'node_pods_started 4',
    'pod_memory_working_set_bytes{namespace="default",pod="other"} 68157440',
    'pod_memory_working_set_bytes{namespace="default",pod="web"} 68157440',
  ])
  const second = await raw('node-2', '/metrics/nodes/node-2/metrics/resource')
  assert.match(second.stdout, /^node_name\{node="node-2"\} 1$/m)
  assert.doesNotMatch(second.stdout, /pod="web"/)
  assert.notEqual((await raw('node-2', '/metrics/nodes/node-1/metrics/resource')).code, 0)
  assert.match((await raw('node-2', '/metrics/resource')).stdout, /node_cpu_usage_seconds_total/)
  const condition = ['wait', '--for=condition=Supported', 'metrics.kwok.x-k8s.io/resource']
  assert.equal((await kubectl(condition)).code, 0)
  await kubectl(['delete', 'metrics.kwok.x-k8s.io', 'resource'])
  await untilTrue(async () => (await raw('node-1', '/metrics/nodes/node-1/metrics/resource')).code !== 0)
})

test('a metrics path without a node name serves the metrics of the node that has the same name as the object', async () => {
  const file = `
kind: Metric
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: node-2}
spec:
  path: /metrics/plain
  metrics: [{name: node_name, kind: gauge, labels: [{name: node, value: node.metadata.name}], value: '1'}]
`
  assert.equal((await kubectl(['apply', '-f', '-'], file)).stderr, '')
  const raw = (node: string) => kubectl(['get', '--raw', `/api/v1/nodes/${node}/proxy/metrics/plain`])
  const { stdout } = await until(
    () => raw('node-2'),
    ({ code }) => code === 0,
  )
  assert.match(stdout, /^node_name\{node="node-2"\} 1$/m)
  assert.notEqual((await raw('node-1')).code, 0)
})

test('the Supported condition names an invalid expression', { timeout: 60_000 }, async () => {
  const file = `
kind: Metric
apiVersion: kwok.x-k8s.io/v1alpha1
metadata: {name: odd}
spec:
  path: '/metrics/nodes/{nodeName}/odd'
  metrics: [{name: a, kind: gauge, value: 'Fly()'}]
`
  await kubectl(['apply', '-f', '-'], file)
  const message = async () => (await kubectl(['get', 'metrics.kwok.x-k8s.io', 'odd', '-o', 'wide'])).stdout
  assert.match(await until(message, (text) => text.includes('False')), /spec\.metrics\[0\]\.value: .*'Fly'/s)
  assert.notEqual((await kubectl(['get', '--raw', '/api/v1/nodes/node-1/proxy/metrics/nodes/node-1/odd'])).code, 0)
})

const now = Date.parse('2030-01-01T00:01:40Z')
const measurements: Measurements = {
  usage: (_resource, container) => (container === undefined ? 10 : 3),
  cumulativeUsage: () => 20,
  startedContainers: () => 7,
  isReady: () => true,
  restartCount: () => 2,
}
const object = (name: string) =>
  objectSubject({ metadata: { name, creationTimestamp: '2030-01-01T00:00:00Z' } }, now, measurements)
const scope = { now, node: object('n'), pod: object('p'), container: containerSubject({ name: 'c' }, now) }
const subjects = { node: scope, pods: [scope, scope], containers: [scope] }

const read = (metrics: Json) => runToCompletion(readMetric({ spec: { path: '/metrics', metrics } }))

async function textOf(metrics: Json): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of metricText(read(metrics), subjects)) parts.push(part)
  return Buffer.concat(parts).toString()
}

test('metric expressions support the functions of KWOK', async () => {
  for (const [value, expected] of [
    ['pod.Usage("memory") * 0.5', '5'],
    ['Usage(pod, "memory", container.name)', '3'],
    ['node.CumulativeUsage("cpu")', '20'],
    ['node.StartedContainersTotal()', '7'],
    ['pod.Ready(container.name) ? 1.0 : 0.0', '1'],
    ['pod.RestartCount(container.name)', '2'],
    ['SinceSecond(pod) + node.SinceSecond()', '200'],
    ['UnixSecond(node.metadata.creationTimestamp)', '1893456000'],
    ['UnixSecond(Now())', '1893456100'],
    ['Quantity("1Ki").AsApproximateFloat64()', '1024'],
    ['duration("1s")', '1000000000'],
    ['1.0 / 0.0', '+Inf'],
    ['3u', '3'],
  ] as const)
    assert.equal(await textOf([{ name: 'a', kind: 'gauge', value }]), `# TYPE a gauge\na ${expected}\n`, value)
})

test('histogram buckets are cumulative, and the next visible bucket includes the count of a hidden one', async () => {
  const buckets = [
    { le: 4, value: '1' },
    { le: 1, value: '5.0' },
    { le: 2, value: '2', hidden: true },
  ]
  assert.equal(
    await textOf([{ name: 'h', kind: 'histogram', buckets }]),
    '# TYPE h histogram\nh_bucket{le="1"} 5\nh_bucket{le="4"} 8\nh_bucket{le="+Inf"} 8\nh_sum 13\nh_count 8\n',
  )
})

test('metrics with the same name form one family, duplicate series appear once, and names are escaped', async () => {
  const metric = (value: string, label: string) => ({
    name: 'k8s.node.io',
    help: 'a\\b',
    kind: 'counter',
    dimension: 'pod',
    labels: [{ name: 'k8s.dir', value: label }],
    value,
  })
  const first = { name: 'z', kind: 'gauge', value: '1' }
  assert.equal(
    await textOf([metric('1', '"in\\n\\"quoted\\""'), first, metric('2', '"out"')] as Json),
    '# HELP k8s_node_io a\\\\b\n# TYPE k8s_node_io counter\nk8s_node_io{k8s_dir="in\\n\\"quoted\\""} 1\n' +
      'k8s_node_io{k8s_dir="out"} 2\n# TYPE z gauge\nz 1\n',
  )
})

test('metric series whose expressions fail are omitted, and a comment contains the reason', async () => {
  const text = await textOf([
    { name: 'a', kind: 'gauge', value: 'node.metadata.missing' },
    { name: 'b', kind: 'gauge', value: '1', labels: [{ name: 'l', value: '1' }] },
    { name: 'c', kind: 'gauge', value: '"text"' },
    { name: 'd', kind: 'gauge', value: '1' },
    { name: 'e', kind: 'gauge', value: 'container.Usage("cpu")' },
  ])
  assert.match(text, /^d 1$/m)
  assert.match(text, /^# 4 series are missing\n# a: the expression failed: no such key: missing\n/m)
  assert.match(text, /^# b: a label is not a string\n# c: the value is not a number\n# e: .*no such overload\n$/m)
})

test('a path of a Metric object serves only a limited number of series', async () => {
  const many = { ...subjects, pods: Array.from({ length: 3000 }, (_, i) => ({ ...scope, pod: object(`p${i}`) })) }
  const metrics = Array.from({ length: 20 }, (_, i) => ({
    name: `m${i}`,
    kind: 'gauge',
    dimension: 'pod',
    labels: [{ name: 'pod', value: 'pod.metadata.name' }],
    value: '1',
  }))
  let lines = 0
  let end = ''
  for await (const part of metricText(read(metrics), many)) {
    end = part.toString()
    lines += end.split('\n').length - 1
  }
  assert.ok(lines < 50_100, `${lines} lines`)
  assert.match(end, /# the limits of series, text or expression costs are exceeded\n$/)
})

test('invalid Metric objects are rejected', () => {
  const gauge = { name: 'a', kind: 'gauge', value: '1' }
  for (const [spec, message] of [
    [{ path: '/other', metrics: [] }, /spec\.path must start with \/metrics/],
    [{ path: '/metrics/{x}', metrics: [] }, /\{x\} is not supported; the only parameter is \{nodeName\}/],
    [{ path: '/metrics', metrics: [{ ...gauge, kind: 'summary' }] }, /kind is not one of counter, gauge, histogram/],
    [{ path: '/metrics', metrics: [{ ...gauge, dimension: 'disk' }] }, /dimension is not one of node, pod, container/],
    [{ path: '/metrics', metrics: [{ name: 'a', kind: 'gauge' }] }, /spec\.metrics\[0\]\.value is required/],
    [{ path: '/metrics', metrics: [{ ...gauge, kind: 'histogram' }] }, /value is not allowed for a histogram/],
    [{ path: '/metrics', metrics: [{ ...gauge, unit: 's' }] }, /spec\.metrics\[0\]\.unit is not supported/],
    [{ path: '/metrics', metrics: [gauge, { ...gauge, kind: 'counter' }] }, /a is declared as both gauge and counter/],
    [{ path: '/metrics', metrics: Array.from({ length: 129 }, () => gauge) }, /more than 128 elements/],
    [{ path: '/metrics', metrics: [{ ...gauge, value: '1+' }] }, /spec\.metrics\[0\]\.value: .*Syntax error/s],
  ] as const)
    assert.throws(() => runToCompletion(readMetric({ spec } as unknown as Json)), { name: 'StageError', message })
})
