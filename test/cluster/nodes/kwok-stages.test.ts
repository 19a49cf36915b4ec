/** Tests Stage objects: files in KWOK's format determine the lifecycle of simulated pods and nodes. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { parseYamlDocuments } from '../../../src/api/codec/yaml-text.ts'
import type { Node } from '../../../src/api/kinds/core/node.ts'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { isNotFound } from '../../../src/client/requests/status-error.ts'
import { type KwokObject, kwokKinds, kwokType } from '../../../src/cluster/nodes/kwok/kinds.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { type Restartable, serveUpWithThread } from '../../support/in-process.ts'
import { until, untilTrue } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
const stageType = kwokType(kwokKinds.stage)
let server: Restartable
let client: Client

before(async () => {
  server = await serveUpWithThread(owner, ['--nodes=2'])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  await untilTrue(async () =>
    client.list(stageType).then(
      () => true,
      () => false,
    ),
  )
})

/** Creates the objects in a YAML file and waits until the server has reported whether it supports them. */
async function apply(file: string): Promise<KwokObject[]> {
  const objects = parseYamlDocuments(file, 100_000).map(({ value }) => value as unknown as KwokObject)
  return await Promise.all(
    objects.map(async (object) => {
      await client.create(stageType, object)
      return await reported(object.metadata.name!)
    }),
  )
}

async function reported(name: string): Promise<KwokObject> {
  return await until(
    () => client.get(stageType, { name }),
    ({ status }) => status?.conditions !== undefined,
  )
}

const conditionOf = ({ status }: KwokObject) => status?.conditions?.find(({ type }) => type === 'Supported')
const deleteStages = async () => await client.deleteCollection(stageType)
const read = (name: string) => client.get(kinds.Pod, { namespace, name })
const untilPod = (name: string, holds: (pod: Pod) => boolean) => until(() => read(name), holds)
const isReady = ({ status }: Pod | Node) =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true

async function makePod(name: string, labels: { [key: string]: string } = {}): Promise<void> {
  await client.create(kinds.Pod, {
    metadata: { name, namespace, labels },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
  })
}

async function eventOf(name: string, reason: string) {
  const { items } = await client.list(kinds.Event, { namespace })
  return items.find((event) => event.involvedObject?.name === name && event.reason === reason)
}

const lifecycle = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: begin
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchLabels:
      lifecycle: custom
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'DoesNotExist'
    - key: '.status.podIP'
      operator: 'DoesNotExist'
  weight: 1
  delay:
    durationMilliseconds: 10
    jitterDurationMilliseconds: 50
  next:
    event:
      type: Normal
      reason: Begun
      message: The stage has begun.
    finalizers:
      add:
      - value: 'example.com/simulated'
    patches:
    - subresource: status
      root: status
      template: |
        {{ $now := Now }}
        conditions:
        - lastTransitionTime: {{ $now | Quote }}
          status: "True"
          type: Initialized
        - lastTransitionTime: {{ $now | Quote }}
          status: "False"
          type: Ready
        containerStatuses:
        {{ range .spec.containers }}
        - image: {{ .image | Quote }}
          name: {{ .name | Quote }}
          ready: false
          restartCount: 0
          state:
            waiting:
              reason: ContainerCreating
        {{ end }}
        hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
        podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
        phase: Pending
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: run
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchLabels:
      lifecycle: custom
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'DoesNotExist'
    - key: '.status.phase'
      operator: 'In'
      values:
      - Pending
    - key: '.status.podIP'
      operator: 'Exists'
  next:
    statusTemplate: |
      {{ $now := Now }}
      conditions:
      - lastTransitionTime: {{ $now | Quote }}
        status: "True"
        type: Ready
      - lastTransitionTime: {{ $now | Quote }}
        status: "True"
        type: ContainersReady
      containerStatuses:
      {{ range .spec.containers }}
      - image: {{ .image | Quote }}
        name: {{ .name | Quote }}
        ready: true
        restartCount: 7
        state:
          running:
            startedAt: {{ $now | Quote }}
      {{ end }}
      phase: Running
      startTime: {{ $now | Quote }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: unlock
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchLabels:
      lifecycle: custom
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'Exists'
    - key: '.metadata.finalizers.[]'
      operator: 'In'
      values: ['example.com/simulated']
  next:
    finalizers:
      remove:
      - value: 'example.com/simulated'
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: remove
spec:
  resourceRef:
    apiGroup: v1
    kind: Pod
  selector:
    matchLabels:
      lifecycle: custom
    matchExpressions:
    - key: '.metadata.deletionTimestamp'
      operator: 'Exists'
    - key: '.metadata.finalizers'
      operator: 'DoesNotExist'
  next:
    delete: true
`

test('pods that a Stage object selects follow that Stage, and all other pods follow the default lifecycle', async () => {
  const stages = await apply(lifecycle)
  assert.deepEqual(
    stages.map(conditionOf).map((condition) => condition?.status),
    ['True', 'True', 'True', 'True'],
  )
  await makePod('custom', { lifecycle: 'custom' })
  await makePod('default')
  const running = await untilPod('custom', isReady)
  assert.deepEqual(running.metadata.finalizers, ['example.com/simulated'])
  assert.equal(running.status?.phase, 'Running')
  assert.match(running.status?.podIP ?? '', /^10\./)
  assert.equal(running.status?.hostIP, '10.127.0.1')
  assert.equal(running.status?.containerStatuses?.[0]?.restartCount, 7)
  assert.equal((await eventOf('custom', 'Begun'))?.message, 'The stage has begun.')
  const usual = await untilPod('default', isReady)
  assert.equal(usual.metadata.finalizers, undefined)
  assert.equal(usual.status?.containerStatuses?.[0]?.restartCount, 0)
  await client.delete(kinds.Pod, { namespace, name: 'custom' })
  await untilTrue(async () => read('custom').then(() => false, isNotFound))
  await deleteStages()
})

test("the simulated nodes watch each of KWOK's kinds once, and only if objects of that kind exist", async () => {
  const watchesOf = async (kind: string) => {
    const { text } = await server.client().get('/metrics')
    const pattern = /^apiserver_registered_watchers\{.*group="kwok\.x-k8s\.io".*kind="(\w+)".*\} (\d+)$/gm
    return [...text.matchAll(pattern)].find(([, each]) => each === kind)?.[2]
  }
  const logsType = kwokType(kwokKinds.logs)
  // The garbage collector watches all kinds.
  await untilTrue(async () => (await watchesOf('Logs')) === '1' && (await watchesOf('Exec')) === '1')
  const { metadata } = await client.create(logsType, { metadata: { name: 'web', namespace }, spec: { logs: [] } })
  await untilTrue(async () => (await watchesOf('Logs')) === '2')
  const condition = async () => (await client.get(logsType, { namespace, name: 'web' })).status?.conditions?.[0]
  assert.equal((await until(condition, (found) => found !== undefined))?.type, 'Supported')
  assert.equal(await watchesOf('Exec'), '1')
  await client.delete(logsType, { namespace, name: metadata.name! })
})

test('a Stage object that is added later also applies to pods that are already running', async () => {
  await makePod('victim', { chaos: 'true' })
  await untilPod('victim', isReady)
  await apply(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: chaos}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchLabels: {chaos: 'true'}
    matchExpressions:
    - {key: '.status.conditions.[] | select( .type == "Ready" ) | .status', operator: In, values: ['True']}
  next:
    event: {type: Warning, reason: Chaos, message: simulated chaos}
    patches:
    - subresource: status
      type: merge
      root: status
      template: |
        reason: Chaos
        phase: Failed
`)
  const failed = await untilPod('victim', ({ status }) => status?.phase === 'Failed')
  assert.equal(failed.status?.reason, 'Chaos')
  await deleteStages()
})

test('the Supported condition of a Stage object explains what is not supported, and the Stage has no effect', async () => {
  const stage = (name: string, spec: string) =>
    `apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: ${name}}\nspec: ${spec}`
  const all = (next: string) => `{resourceRef: {kind: Pod}, selector: {}, next: ${next}}`
  const rows: readonly (readonly [string, RegExp])[] = [
    ['{resourceRef: {apiGroup: apps, kind: Deployment}}', /apiGroup must be v1 or a group with its version/],
    [
      "{resourceRef: {kind: Pod}, selector: {matchExpressions: [{key: '.a | length', operator: Exists}]}}",
      /".a \| length" is not supported/,
    ],
    [all("{statusTemplate: '{{ sprigless . }}'}"), /function "sprigless" not defined/],
    [all('{unknown: 1}'), /spec.next.unknown is not supported/],
  ]
  const stages = await apply(rows.map(([spec], i) => stage(`odd-${i}`, spec)).join('\n---\n'))
  for (const [i, [spec, message]] of rows.entries()) {
    assert.equal(conditionOf(stages[i]!)?.status, 'False', spec)
    assert.match(conditionOf(stages[i]!)?.message ?? '', message)
  }
  await makePod('unaffected')
  await untilPod('unaffected', isReady)
  await client.patch(
    stageType,
    { name: 'odd-0' },
    { patch: { merge: { spec: { resourceRef: { kind: 'Pod', apiGroup: 'v1' } } } } },
  )
  await until(
    () => client.get(stageType, { name: 'odd-0' }),
    (stage) => conditionOf(stage)?.status === 'True',
  )
  await deleteStages()
})

test('an Event reports a Stage whose template produces no valid status', async () => {
  await apply(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: wrong}
spec:
  resourceRef: {kind: Pod}
  selector: {matchLabels: {wrong: 'true'}}
  next:
    statusTemplate: '[1, 2]'
`)
  await makePod('wrong', { wrong: 'true' })
  await untilTrue(async () =>
    /stage wrong: the output of the template is not an object/.test(
      (await eventOf('wrong', 'StageFailed'))?.message ?? '',
    ),
  )
  await deleteStages()
  await untilPod('wrong', isReady)
})

test('a Stage object for nodes replaces the status reports of the nodes that it selects', async () => {
  const node = () => client.get(kinds.Node, { name: 'node-2' })
  await until(node, isReady)
  await apply(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: unready}
spec:
  resourceRef: {apiGroup: v1, kind: Node}
  selector:
    matchLabels: {broken: 'true'}
  next:
    event: {type: Warning, reason: Broken, message: The node is broken.}
    statusTemplate: |
      conditions:
      {{ range NodeConditions }}
      - type: {{ .type | Quote }}
        status: {{ if eq .type "Ready" }}"False"{{ else }}{{ .status | Quote }}{{ end }}
        reason: Broken
        message: {{ NodeName | Quote }}
      {{ end }}
`)
  const label = async (value: string | null) =>
    await client.patch(
      kinds.Node,
      { name: 'node-2' },
      { patch: { merge: { metadata: { labels: { broken: value } } } } },
    )
  await label('true')
  const broken = await until(node, (each) => !isReady(each))
  assert.equal(broken.status?.conditions?.find(({ type }) => type === 'Ready')?.message, 'node-2')
  assert.ok(isReady(await client.get(kinds.Node, { name: 'node-1' })))
  const { renewTime } = (await client.get(kinds.Lease, { namespace: 'kube-node-lease', name: 'node-2' })).spec ?? {}
  assert.ok(renewTime)
  await label(null)
  await until(node, isReady)
  await deleteStages()
})

test('stages that trigger each other are applied at most once per second', async () => {
  const flip = (name: string, from: string, to: string) => `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: ${name}}
spec:
  resourceRef: {kind: Pod}
  selector:
    matchLabels: {flips: 'true'}
    matchExpressions: [{key: .status.reason, operator: ${from}, values: [A]}]
  next: {statusTemplate: 'reason: ${to}'}
`
  await apply(`${flip('to-a', 'NotIn', 'A')}\n---\n${flip('to-b', 'In', 'B')}`)
  const began = performance.now()
  await makePod('flips', { flips: 'true' })
  let last: string | undefined
  let changeCount = 0
  const countChanges = async () => {
    const { status } = await read('flips')
    if (status?.reason !== last) changeCount++
    last = status?.reason
    return changeCount
  }
  // The stages set A, B, A, B and A, so the first stage is applied three times.
  await until(countChanges, (count) => count === 5)
  const elapsedMs = performance.now() - began
  assert.ok(elapsedMs >= 2000, `three times in ${elapsedMs} ms`)
  await deleteStages()
})

test('after a restart, Stage objects apply before pods start', async () => {
  await apply(`
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: hold}
spec:
  resourceRef: {kind: Pod}
  selector: {matchLabels: {held: 'true'}}
  delay: {durationMilliseconds: 3600000}
  next: {}
`)
  await server.stop()
  await server.restart()
  client = new Client(server.transport())
  await makePod('held', { held: 'true' })
  await makePod('free')
  await untilPod('free', isReady)
  assert.equal((await read('held')).status?.phase, 'Pending')
  await deleteStages()
  await untilPod('held', isReady)
})
