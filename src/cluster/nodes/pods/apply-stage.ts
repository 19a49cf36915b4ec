/** Carries out one stage on a pod, as the agent of its node: finalizers, status, event, end, in this order. */

import { isObject, type Json } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import { asJson, timestamp } from '../../../api/model/object.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import type { NodeDescription } from '../node-object.ts'
import type { FinalizerChange, Next, Stage, StageEvent } from '../stages/stage.ts'
import { StageError } from '../stages/stage-error.ts'
import type { PodAddresses } from './addresses.ts'
import { steps } from './steps.ts'

/** What stages work with. */
export interface StageEffects {
  /** A client as the agent of this node. */
  readonly clientOf: (node: string) => Client
  readonly nodeOf: (node: string) => NodeDescription
  readonly addressesOf: (node: string) => PodAddresses
  readonly clock: { now(): number }
  readonly record: (pod: Pod, event: StageEvent) => void
  /** Makes ready what containers need before they start; returns why they cannot. */
  readonly prepare?: (pod: Pod, client: Client) => Promise<string | undefined>
  /** Reads the text that a template made. */
  readonly parseStatus?: (text: string) => Json
}

interface Application {
  readonly key: string
  readonly pod: Pod
  readonly stage: Stage
}

export async function applyStage(
  effects: StageEffects,
  { key, pod, stage: { next } }: Application,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const node = pod.spec!.nodeName!
  const client = effects.clientOf(node)
  const podIp = addressFor(effects, key, pod)
  const missing = await whyNotStarted(effects, { pod, next, podIp })
  if (missing !== undefined) {
    effects.record(pod, missing)
    return 'later'
  }
  let current = pod
  if (next.finalizers !== undefined) current = await changeFinalizers({ client, pod, change: next.finalizers }, signal)
  if (next.event !== undefined) effects.record(pod, next.event)
  current = await writeStatus(effects, { client, pod: current, next, podIp: podIp ?? '' }, signal)
  if (next.delete) await deleteNow(client, current, signal)
  return 'done'
}

/** The address that a pod has or would get. Pods in the network of their node have the node's. */
function addressFor({ nodeOf, addressesOf }: StageEffects, key: string, { spec, status }: Pod): string | undefined {
  const node = spec!.nodeName!
  if (spec?.hostNetwork) return nodeOf(node).address
  if (status?.podIP) return status.podIP
  return addressesOf(node).take(key)
}

interface Starting {
  readonly pod: Pod
  readonly next: Next
  readonly podIp: string | undefined
}

async function whyNotStarted(
  { prepare, clientOf }: StageEffects,
  { pod, next: { step, statusTemplate }, podIp }: Starting,
): Promise<StageEvent | undefined> {
  const isStart = step === 'Start' || step === 'StartUnready' || (statusTemplate !== undefined && !pod.status?.podIP)
  if (!isStart) return undefined
  if (podIp === undefined)
    return {
      type: 'Warning',
      reason: 'FailedCreatePodSandBox',
      message: 'the range of pod addresses of the node has none left',
    }
  const reason = await prepare?.(pod, clientOf(pod.spec!.nodeName!))
  return reason === undefined ? undefined : { type: 'Warning', reason: 'FailedMount', message: reason }
}

interface FinalizerWrite {
  readonly client: Client
  readonly pod: Pod
  readonly change: FinalizerChange
}

async function changeFinalizers({ client, pod, change }: FinalizerWrite, signal: AbortSignal): Promise<Pod> {
  const present = pod.metadata.finalizers ?? []
  const kept = change.empty ? [] : present.filter((name) => !change.remove.includes(name))
  const wanted = [...new Set([...kept, ...change.add])]
  if (wanted.length === present.length && wanted.every((name) => present.includes(name))) return pod
  const { name = '', namespace = '', resourceVersion } = pod.metadata
  const merge = { metadata: { resourceVersion, finalizers: wanted } }
  return await client.patch(kinds.Pod, { name, namespace }, { patch: { merge }, signal })
}

interface StatusWrite {
  readonly client: Client
  readonly pod: Pod
  readonly next: Next
  readonly podIp: string
}

async function writeStatus(effects: StageEffects, write: StatusWrite, signal: AbortSignal): Promise<Pod> {
  const { client, pod, next } = write
  if (next.statusTemplate !== undefined) return await patchStatus(effects, write, signal)
  if (next.step === undefined) return pod
  // What is gone with the next request needs no last status, unless a finalizer keeps it.
  if (next.step === 'Terminate' && (pod.metadata.finalizers ?? []).length === 0) return pod
  const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  if (next.step === 'Terminate' && isOver) return pod
  const status = steps[next.step](pod, {
    now: effects.clock.now(),
    hostIp: effects.nodeOf(pod.spec!.nodeName!).address,
    podIp: write.podIp,
    exitCode: exitCodeOf(next, pod),
    reason: next.reason ?? '',
    message: next.message ?? '',
  })
  return await client.update(kinds.Pod, { ...pod, status }, { subresource: 'status', signal })
}

function exitCodeOf({ exitCodeFrom }: Next, pod: Pod): number {
  const [found] = exitCodeFrom?.(asJson(pod)) ?? []
  const code = Number(found ?? 0)
  return Number.isInteger(code) && code >= 0 && code <= 255 ? code : 1
}

async function patchStatus(
  effects: StageEffects,
  { client, pod, next, podIp }: StatusWrite,
  signal: AbortSignal,
): Promise<Pod> {
  const node = effects.nodeOf(pod.spec!.nodeName!)
  const text = next.statusTemplate!(asJson(pod), {
    Now: () => timestamp(effects.clock.now()),
    NodeIP: () => node.address,
    NodeIPWith: () => node.address,
    NodeName: () => node.name,
    NodePort: () => node.port(),
    PodIP: () => podIp,
    PodIPWith: () => podIp,
  })
  const status = effects.parseStatus!(text)
  if (!isObject(status)) throw new StageError('the statusTemplate does not make an object')
  const { name = '', namespace = '', resourceVersion } = pod.metadata
  const patch = { strategic: { metadata: { resourceVersion }, status } }
  return await client.patch(kinds.Pod, { name, namespace }, { patch, subresource: 'status', signal })
}

/** The functions that every call of a template brings along. */
export const placeFunctions: ReadonlySet<string> = new Set([
  ...['Now', 'NodeIP', 'NodeIPWith', 'NodeName', 'NodePort', 'PodIP', 'PodIPWith'],
])

/** The grace period is over for the node: this very pod goes now, or with the last of its finalizers. */
async function deleteNow(client: Client, { metadata }: Pod, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', uid } = metadata
  const preconditions = uid === undefined ? {} : { uid }
  await client
    .delete(kinds.Pod, { name, namespace }, { gracePeriodSeconds: 0, preconditions, signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
}
