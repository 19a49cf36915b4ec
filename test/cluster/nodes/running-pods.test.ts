/** Tests changes to running pods on simulated nodes: sidecars, ephemeral containers and in-place resizes. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { requestsOf } from '../../../src/cluster/scheduler/resources.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { serveUp } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const namespace = 'default'
const owner = endOfFile()
let client: Client

before(async () => {
  const flags = ['--nodes=1', '--node-capacity=cpu=4,memory=8Gi,pods=110', '--simulation-speed=100']
  const server = await serveUp(owner, [...flags, '--emulated-version=1.36'])
  client = new Client(server.transport())
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
})

const read = (name: string) => client.get(kinds.Pod, { namespace, name })
const untilPod = (name: string, holds: (pod: Pod) => boolean) => until(() => read(name), holds)
const isRunning = ({ status }: Pod) => status?.phase === 'Running'
const condition = ({ status }: Pod, type: string) => status?.conditions?.find((each) => each.type === type)

const container = (cpu: string, more: object = {}) => ({
  ...{ name: 'c', image: 'i', resources: { requests: { cpu, memory: '1Gi' } } },
  ...more,
})

async function makePod(name: string, spec: object): Promise<void> {
  await client.create(kinds.Pod, { metadata: { name, namespace }, spec: { nodeName: 'node-1', ...spec } })
}

async function resize(name: string, cpu: string): Promise<void> {
  const patch = { strategic: { spec: { containers: [{ name: 'c', resources: { requests: { cpu } } }] } } }
  await client.patch(kinds.Pod, { namespace, name }, { patch, subresource: 'resize' })
}

test('a sidecar runs next to the regular containers and stops after them', async () => {
  await makePod('sidecar', {
    restartPolicy: 'Never',
    initContainers: [
      { name: 'proxy', image: 'i', restartPolicy: 'Always' },
      { name: 'setup', image: 'i' },
    ],
    containers: [{ name: 'c', image: 'i', command: ['sleep', '100'] }],
  })
  const { status } = await untilPod('sidecar', isRunning).then(() => read('sidecar'))
  const [proxy, setup] = status!.initContainerStatuses!
  assert.deepEqual([proxy!.ready, proxy!.started, proxy!.state?.running !== undefined], [true, true, true])
  assert.equal(setup!.state?.terminated?.reason, 'Completed')
  const ended = await untilPod('sidecar', (pod) => pod.status?.phase === 'Succeeded').then(() => read('sidecar'))
  assert.equal(ended.status!.initContainerStatuses![0]!.state?.terminated?.exitCode, 0)
})

test('an ephemeral container that is added to a pod starts', async () => {
  await makePod('debugged', { containers: [{ name: 'c', image: 'i' }] })
  await untilPod('debugged', isRunning)
  const patch = { strategic: { spec: { ephemeralContainers: [{ name: 'debug', image: 'busybox' }] } } }
  await client.patch(kinds.Pod, { namespace, name: 'debugged' }, { patch, subresource: 'ephemeralcontainers' })
  await untilPod('debugged', (pod) => pod.status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined)
})

test('a pod is resized in place, and a container is restarted only if its resize policy requires a restart', async () => {
  await makePod('resized', { containers: [container('1')] })
  await untilPod('resized', isRunning)
  await resize('resized', '1500m')
  const isDone = (pod: Pod) =>
    pod.status?.containerStatuses?.[0]?.resources?.requests?.cpu === '1500m' &&
    condition(pod, 'PodResizeInProgress') === undefined
  await untilPod('resized', isDone)
  assert.equal((await read('resized')).status?.containerStatuses?.[0]?.restartCount, 0)
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }]
  await makePod('restarted', { containers: [container('1', { resizePolicy })] })
  await untilPod('restarted', isRunning)
  await resize('restarted', '500m')
  await untilPod('restarted', (pod) => pod.status?.containerStatuses?.[0]?.restartCount === 1)
  await client.delete(kinds.Pod, { namespace, name: 'restarted' })
})

test('a pod resize for which the node has no room is deferred', async () => {
  await makePod('large', { containers: [container('1')] })
  await untilPod('large', isRunning)
  await resize('large', '3500m')
  await untilPod('large', (pod) => condition(pod, 'PodResizePending')?.reason === 'Deferred')
  await resize('large', '1')
  await untilPod('large', (pod) => condition(pod, 'PodResizePending') === undefined)
})

test('resource requests count sidecars, pod-level requests and a resize in progress', () => {
  const requests = (cpu: string) => ({ resources: { requests: { cpu } } })
  const sidecar = { name: 's', restartPolicy: 'Always', ...requests('1') }
  const spec = {
    containers: [{ name: 'c', ...requests('2') }],
    initContainers: [sidecar, { name: 'i', ...requests('4') }],
  }
  assert.equal(requestsOf({ spec }).cpu, 5000, 'the init container runs next to the sidecar')
  assert.equal(requestsOf({ spec: { ...spec, initContainers: [sidecar] } }).cpu, 3000)
  assert.equal(requestsOf({ spec: { ...spec, ...requests('6') } }).cpu, 6000)
  const status = { containerStatuses: [{ name: 'c', ...requests('5') }] }
  assert.equal(requestsOf({ spec: { containers: spec.containers }, status }).cpu, 5000)
})
