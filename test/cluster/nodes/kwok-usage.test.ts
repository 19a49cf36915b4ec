/**
 * Tests ResourceUsage and ClusterResourceUsage objects: files in KWOK's format determine how much CPU and memory
 * containers use.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parseYamlDocuments } from '../../../src/api/codec/yaml-text.ts'
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { type KwokObject, kwokKinds, kwokType } from '../../../src/cluster/nodes/kwok/kinds.ts'
import { readClusterRules, readOwnRules } from '../../../src/cluster/nodes/kwok/pod-rules.ts'
import { compileUsage } from '../../../src/cluster/nodes/kwok/usage-expression.ts'
import { usageRules } from '../../../src/cluster/nodes/kwok/usage-objects.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUpWithThread } from '../../support/in-process.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
const usageType = kwokType(kwokKinds.resourceUsage)
const clusterUsageType = kwokType(kwokKinds.clusterResourceUsage)
let server: Restartable
let client: Client

before(async () => {
  server = await serveUpWithThread(owner, ['--nodes=1'])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const isServed = (type: typeof usageType) =>
    client.list(type).then(
      () => true,
      () => false,
    )
  await untilTrue(async () => (await isServed(usageType)) && (await isServed(clusterUsageType)))
})

const documentOf = (file: string) => parseYamlDocuments(file, 100_000)[0]!.value as unknown as KwokObject

async function makePod(name: string, annotations: { [key: string]: string } = {}): Promise<void> {
  await client.create(kinds.Pod, {
    metadata: { name, namespace, annotations },
    spec: {
      nodeName: 'node-1',
      containers: [
        { name: 'web', image: 'i' },
        { name: 'side', image: 'i' },
      ],
    },
  })
}

/** Returns the usage of a pod's containers, for example `web 1500m 65536Ki`. */
async function usageOf(name: string): Promise<string[]> {
  const { body } = await server.client().get(`/apis/metrics.orch.io/v1beta1/namespaces/${namespace}/pods/${name}`)
  const containers: { name: string; usage: { cpu: string; memory: string } }[] = body.containers ?? []
  return containers.map((each) => `${each.name} ${each.usage.cpu} ${each.usage.memory}`).sort()
}

const untilUsage = (name: string, expected: readonly string[]) =>
  until(
    () => usageOf(name),
    (usage) => usage.join() === expected.join(),
  )

test('a ClusterResourceUsage determines the metrics of the pods that it selects', async () => {
  await client.create(
    clusterUsageType,
    documentOf(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterResourceUsage
metadata:
  name: from-annotations
spec:
  selector:
    matchNamespaces: [default]
    matchNames: [annotated, plain]
  usages:
  - containers: [web]
    usage:
      cpu:
        expression: |
          "example.com/cpu" in pod.metadata.annotations
          ? Quantity(pod.metadata.annotations["example.com/cpu"])
          : Quantity("10m")
      memory:
        value: 32Mi
`),
  )
  await makePod('annotated', { 'example.com/cpu': '1500m' })
  await makePod('plain')
  await makePod('other')
  await untilUsage('annotated', ['side 100m 1024Ki', 'web 1500m 32768Ki'])
  await untilUsage('plain', ['side 100m 1024Ki', 'web 10m 32768Ki'])
  await untilUsage('other', ['side 100m 1024Ki', 'web 100m 1024Ki'])
})

test('a ResourceUsage takes precedence for the pod with the same name until the ResourceUsage is deleted', async () => {
  await makePod('single')
  await untilUsage('single', ['side 100m 1024Ki', 'web 100m 1024Ki'])
  const name = { namespace, name: 'single' }
  await client.create(
    usageType,
    documentOf(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ResourceUsage
metadata: {name: single, namespace: default}
spec:
  usages:
  - usage:
      cpu: {value: 250m}
      memory: {expression: 'container.name == "web" ? Quantity("2Mi") : Quantity("3Mi")'}
`),
  )
  await untilUsage('single', ['side 250m 3072Ki', 'web 250m 2048Ki'])
  await client.delete(usageType, name)
  await untilUsage('single', ['side 100m 1024Ki', 'web 100m 1024Ki'])
})

test('an Event reports an expression that fails for a pod', async () => {
  await makePod('fails')
  const expression = 'Quantity(pod.metadata.annotations["missing"])'
  const spec = { usages: [{ usage: { cpu: { expression } } }] }
  await client.create(usageType, { metadata: { name: 'fails', namespace }, spec })
  const message = async () => {
    await usageOf('fails')
    const { items } = await client.list(kinds.Event, { namespace })
    return items.find((event) => event.involvedObject?.name === 'fails' && event.reason === 'UsageFailed')?.message
  }
  assert.match(
    (await until(message, (text) => text !== undefined)) ?? '',
    /cpu usage of container \w+: the expression failed: no such key/,
  )
})

test('the Supported condition of a usage object names the resource that is not supported', async () => {
  await client.create(clusterUsageType, {
    metadata: { name: 'odd' },
    spec: { usages: [{ usage: { disk: { value: 1 } } }] },
  })
  const object = await until(
    () => client.get(clusterUsageType, { name: 'odd' }),
    ({ status }) => status?.conditions !== undefined,
  )
  assert.equal(object.status?.conditions?.[0]?.status, 'False')
  assert.match(object.status?.conditions?.[0]?.message ?? '', /spec.usages\[0\].usage.disk is not supported/)
})

const now = Date.parse('2030-01-01T00:01:40Z')
const metadata = { name: 'p', creationTimestamp: '2030-01-01T00:00:00Z' }
const scope = { pod: { metadata }, node: { metadata, spec: { x: 3 } }, container: { name: 'c' }, now }

test('usage expressions support the functions of KWOK', () => {
  for (const [expression, expected] of [
    ['Quantity("250m")', 0.25],
    ['Quantity("1Mi")', 2 ** 20],
    ['2', 2],
    ['0.5', 0.5],
    ['pod.SinceSecond()', 100],
    ['node.SinceSecond() / 10.0', 10],
    ['node.spec.x', 3],
    ['"Quantity(" == "Quantity(" && container.name == "c" ? 1 : 2', 1],
    ['Now() == timestamp("2030-01-01T00:01:40Z") ? 1 : 0', 1],
    ['size(pod.metadata.labels)', 0],
  ] as const)
    assert.equal(compileUsage(expression)(scope), expected, expression)
  const random = compileUsage('Rand()')(scope)
  assert.ok(random >= 0 && random < 1)
})

test('invalid usage expressions are rejected', () => {
  for (const [expression, message] of [
    ['Fly()', /undeclared reference to 'Fly'/],
    ['pod.', /Syntax error/],
    ['"', /Syntax error/],
    [`1${' '.repeat(5000)}`, /longer than 4096 characters/],
  ] as const)
    assert.throws(() => compileUsage(expression), { name: 'StageError', message }, expression)
  for (const [expression, message] of [
    ['"text"', /must return a quantity or a non-negative number/],
    ['-1', /must return a quantity or a non-negative number/],
    ['1.0 / 0.0', /must return a quantity or a non-negative number/],
    ['Quantity("x")', /quantities must match/],
    [`${'[1,2,3,4,5,6,7,8,9].all(a, '.repeat(4)}true${')'.repeat(4)} ? 1 : 2`, /cost limit exceeded/],
  ] as const)
    assert.throws(() => compileUsage(expression)(scope), { name: 'StageError', message }, expression)
})

test('invalid usage objects are rejected', () => {
  const usage = (usages: Json): JsonObject => ({ metadata: { name: 'a', namespace: 'b' }, spec: { usages } })
  const cpu = (amount: Json) => usage([{ usage: { cpu: amount } }])
  for (const [object, message] of [
    [cpu({}), /spec.usages\[0\].usage.cpu requires either a value or an expression/],
    [cpu({ value: 1, expression: '1' }), /requires either a value or an expression/],
    [cpu({ value: 'x' }), /spec.usages\[0\].usage.cpu: the value is not a non-negative quantity/],
    [cpu({ expression: 'Fly()' }), /spec.usages\[0\].usage.cpu: .*Fly/s],
    [usage(Array.from({ length: 33 }, () => ({ usage: {} }))), /more than 32 elements/],
    [{ spec: { selector: {}, usages: [] } }, /spec.selector is not supported/],
  ] as const)
    assert.throws(() => readOwnRules(usageRules, object as Json), { name: 'StageError', message })
  const selector = { matchLabels: {} }
  assert.throws(
    () => readClusterRules(usageRules, { spec: { selector, usages: [] } }),
    /selector.matchLabels is not supported/,
  )
})
