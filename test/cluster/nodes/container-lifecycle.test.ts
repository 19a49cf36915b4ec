/**
 * Tests pods in which a simulated node runs each container individually: container order, hooks, programs and restarts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../src/api/kinds/core/pod.ts'
import type { PodStatus } from '../../../src/api/kinds/core/types/pod-status.ts'
import * as kinds from '../../../src/client/requests/built-in-kinds.ts'
import { Client } from '../../../src/client/requests/client.ts'
import { nextStep } from '../../../src/cluster/nodes/pods/container-lifecycle.ts'
import { endOfFile } from '../../support/end-of-file.ts'
import { serveUp } from '../../support/in-process.ts'
import { until } from '../../support/until.ts'

const start = Date.parse('2030-01-01T00:00:00Z')

/** Runs a pod with a simulated clock, and records its states and events with their times in seconds. */
class Run {
  readonly log: string[] = []
  #pod: Pod
  #nowMs = 0
  readonly #seen = new Map<string, number>()

  constructor(spec: object) {
    this.#pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' }, spec, status: { phase: 'Pending' } } as Pod
  }

  get status(): PodStatus {
    return this.#pod.status!
  }

  /** Runs until the given time. */
  to(seconds: number): this {
    for (let i = 0; i < 1000; i++) {
      const { status, events, afterMs, isGone } = nextStep(this.#pod, {
        ...{ now: start + this.#nowMs, hostIp: '10.0.0.1', podIp: '10.0.0.2' },
        elapsed: (key) => {
          this.#seen.set(key, this.#seen.get(key) ?? this.#nowMs)
          return this.#nowMs - this.#seen.get(key)!
        },
      })
      for (const { reason, message } of events) this.#note(`${reason} ${message}`)
      if (isGone) {
        this.#note('gone')
        return this
      }
      if (status !== undefined) {
        if (status.phase !== this.status.phase) this.#note(status.phase!)
        this.#pod = { ...this.#pod, status }
      } else if (afterMs === undefined || this.#nowMs + afterMs > seconds * 1000) break
      else this.#nowMs += afterMs
    }
    this.#nowMs = seconds * 1000
    return this
  }

  delete(graceSeconds: number): this {
    const deletionTimestamp = new Date(start + this.#nowMs + graceSeconds * 1000).toISOString()
    const metadata = { ...this.#pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds }
    this.#pod = { ...this.#pod, metadata }
    return this
  }

  #note(text: string): void {
    this.log.push(`${this.#nowMs / 1000} ${text}`)
  }
}

const container = (name: string, script?: string, more: object = {}) => ({
  ...{ name, image: 'i' },
  ...(script === undefined ? {} : { command: ['sh', '-c', script] }),
  ...more,
})
const sidecar = (name: string, more: object = {}) => container(name, undefined, { restartPolicy: 'Always', ...more })
const restarts = ({ containerStatuses = [] }: PodStatus) => containerStatuses.map(({ restartCount }) => restartCount)
const isTrue = ({ conditions = [] }: PodStatus, type: string) =>
  conditions.find((each) => each.type === type)?.status === 'True'

test('init containers run in order, and a sidecar starts before and stops after the containers that follow it', () => {
  const run = new Run({
    restartPolicy: 'Never',
    initContainers: [container('one', 'sleep 3'), sidecar('a'), container('two', 'sleep 1'), sidecar('b')],
    containers: [container('main', 'sleep 5')],
  }).to(2)
  assert.equal(isTrue(run.status, 'Initialized'), false)
  assert.deepEqual(run.status.containerStatuses?.[0]?.state, { waiting: { reason: 'PodInitializing' } })
  assert.deepEqual(run.to(60).log, [
    '0 Started Started container one',
    '3 Started Started container a',
    '3 Started Started container two',
    '4 Started Started container b',
    '4 Started Started container main',
    '4 Running',
    '9 Killing Stopping container b',
    '9 Killing Stopping container a',
    '9 Succeeded',
  ])
})

test('a sidecar must be started before the next init container starts', () => {
  const slow = { startupProbe: { initialDelaySeconds: 7 } }
  const run = new Run({ initContainers: [sidecar('a', slow)], containers: [container('main')] }).to(6)
  assert.equal(run.status.phase, 'Pending')
  assert.equal(run.to(8).status.phase, 'Running')
  assert.equal(isTrue(run.status, 'Ready'), true)
})

test('a failed init container restarts with a growing delay, or fails the pod if the restart policy is Never', () => {
  const spec = { initContainers: [sidecar('a'), container('bad', 'exit 3')], containers: [container('main')] }
  const failed = new Run({ ...spec, restartPolicy: 'Never' }).to(5)
  assert.deepEqual(failed.log.slice(-2), ['0 Killing Stopping container a', '0 Failed'])
  const again = new Run({ ...spec, restartPolicy: 'Always' }).to(35)
  assert.equal(again.status.phase, 'Pending')
  const [, bad] = again.status.initContainerStatuses!
  assert.deepEqual([bad!.restartCount, bad!.lastState?.terminated?.exitCode], [3, 3])
  assert.equal(bad!.state?.waiting?.reason, 'CrashLoopBackOff')
})

test('each container of a pod restarts independently', () => {
  const run = new Run({ containers: [container('ends', 'sleep 1; exit 1'), container('stays')] }).to(15)
  assert.deepEqual(restarts(run.status), [2, 0])
  assert.equal(run.status.phase, 'Running')
  assert.equal(run.status.containerStatuses![1]!.ready, true)
})

test('restart rules and policies of a container override the policy of the pod', () => {
  const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }]
  const ofPod = (exitCode: number) => ({
    restartPolicy: 'Never',
    containers: [container('c', `sleep 1; exit ${exitCode}`, { restartPolicy: 'Never', restartPolicyRules: rules })],
  })
  assert.deepEqual(restarts(new Run(ofPod(42)).to(5).status), [1])
  assert.equal(new Run(ofPod(41)).to(5).status.phase, 'Failed')
  const other = [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [42] } }]
  const spec = {
    containers: [container('c', 'sleep 1; exit 42', { restartPolicy: 'Never', restartPolicyRules: other })],
  }
  assert.equal(new Run({ restartPolicy: 'Always', ...spec }).to(5).status.phase, 'Failed')
})

test('a container is ready after its postStart hook, and is killed if the hook fails', () => {
  const hook = (handler: object) => ({ lifecycle: { postStart: handler } })
  const slow = new Run({ containers: [container('c', undefined, hook({ sleep: { seconds: 5 } }))] }).to(4)
  assert.equal(isTrue(slow.status, 'Ready'), false)
  assert.equal(isTrue(slow.to(6).status, 'Ready'), true)
  const bad = container('c', undefined, hook({ exec: { command: ['sh', '-c', 'sleep 2; exit 1'] } }))
  const failing = new Run({ restartPolicy: 'Never', containers: [bad] }).to(5)
  assert.equal(failing.status.containerStatuses![0]!.state?.terminated?.exitCode, 137)
  assert.ok(failing.log.includes('2 FailedPostStartHook PostStartHook failed: the command exited with 1'))
})

test('a deleted pod stops after its preStop hooks, but no later than at the end of its grace period', () => {
  const preStop = { lifecycle: { preStop: { sleep: { seconds: 6 } } } }
  const spec = { initContainers: [sidecar('a')], containers: [container('c', undefined, preStop)] }
  const log = (grace: number) => new Run(spec).to(10).delete(grace).to(60).log.slice(-3)
  assert.deepEqual(log(30), ['17 Killing Stopping container c', '17 Killing Stopping container a', '17 gone'])
  assert.deepEqual(log(3), ['13 Killing Stopping container c', '13 Killing Stopping container a', '13 gone'])
})

test('a simulated node runs a pod with init containers and sidecars until the pod is deleted', async () => {
  const server = await serveUp(endOfFile(), ['--nodes=1', '--emulated-version=1.36', '--simulation-speed=100'])
  const client = new Client(server.transport())
  const [namespace, name] = ['default', 'p']
  const account = () => client.get(kinds.ServiceAccount, { namespace, name: 'default' }).catch(() => undefined)
  await until(account, (found) => found !== undefined)
  const spec = {
    nodeName: 'node-1',
    initContainers: [container('init', 'sleep 5'), sidecar('a')],
    containers: [container('ends', 'sleep 5; exit 1'), container('stays')],
  }
  await client.create(kinds.Pod, { metadata: { name, namespace }, spec } as never)
  const read = () => client.get(kinds.Pod, { namespace, name })
  const pod = await until(read, ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) >= 2)
  assert.equal(pod.status?.phase, 'Running')
  assert.equal(pod.status?.initContainerStatuses?.[0]?.state?.terminated?.reason, 'Completed')
  await client.delete(kinds.Pod, { namespace, name })
  await until(
    () => read().catch(() => undefined),
    (found) => found === undefined,
  )
})
