/**
 * Applies one stage to a pod: finalizers, patches, event, status and deletion, in this order. A stage from a file acts
 * as the node's agent, and a stage from the API acts as its author.
 */

import type { JsonObject } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { PodStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { oldestVersion } from '../../../api/versions/emulated-version.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import type { NodeDescription } from '../node-object.ts'
import { applyChanges } from '../stages/apply-changes.ts'
import type { Next, Stage, StageEvent } from '../stages/stage.ts'
import { impersonatingActor } from '../stages/stage-actor.ts'
import { templateFunctions } from '../stages/template-functions.ts'
import type { PodAddresses } from './addresses.ts'
import { podTransitions } from './pod-transitions.ts'
import { reportedStatus } from './reported-status.ts'

/** The clients and functions that stages use to change pods. */
export interface StageEffects {
  /** Returns a client that authenticates as the agent of this node, or as the actor of a stage. */
  readonly clientOf: (node: string) => Client
  readonly nodeOf: (node: string) => NodeDescription
  readonly addressesOf: (node: string) => PodAddresses
  readonly clock: { now(): number }
  /** Records an Event as the node's agent, or as the actor of a stage. */
  readonly record: (pod: Pod, event: StageEvent, actor?: string) => void
  /**
   * Prepares the resources that containers need before they start. Returns the reason if the containers cannot start.
   */
  readonly prepare?: (pod: Pod, client: Client) => Promise<string | undefined>
  /** Returns a client that may change the finalizers of a pod on this node. */
  readonly finalizerClientOf: (node: string) => Client
  /** Time when this process started its nodes. Templates can refer to this time. */
  readonly startedAt: number
}

interface Application {
  readonly key: string
  readonly pod: Pod
  /** The pod against which stages are matched, with the annotations that simulate failures. */
  readonly podJson: JsonObject
  readonly stage: Stage
}

export async function applyStage(
  effects: StageEffects,
  { key, pod, podJson, stage: { next, actor } }: Application,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const node = pod.spec!.nodeName!
  const client = effects.clientOf(actor ?? node)
  const podIp = addressFor(effects, key, pod)
  const missing = await whyNotStarted(effects, { pod, next, podIp })
  if (missing !== undefined) {
    effects.record(pod, missing)
    return 'later'
  }
  const finalizerClient = actor === undefined ? effects.finalizerClientOf(node) : client
  const patchClient = (as: string | undefined) =>
    as === undefined ? client : effects.clientOf(impersonatingActor(actor ?? node, as))
  const { clock, startedAt, nodeOf } = effects
  const functions = templateFunctions({ node: nodeOf(node), podIp: podIp ?? '', now: clock.now(), startedAt })
  const parts = { finalizerClient, patchClient, functions }
  let current = await applyChanges({ type: kinds.Pod, object: pod, next }, parts, signal)
  if (next.event !== undefined) effects.record(pod, next.event, actor)
  current = await writeStatus(effects, { client, pod: current, podJson, next, podIp: podIp ?? '' }, signal)
  if (next.delete) await deleteNow(client, current, signal)
  return 'done'
}

/** Returns the pod's address, allocating one if necessary. Pods on the host network have the address of the node. */
export function addressFor(
  { nodeOf, addressesOf }: StageEffects,
  key: string,
  { spec, status }: Pod,
): string | undefined {
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

/** Returns the event that explains why the containers of a pod cannot start yet, or undefined if they can start. */
export async function startBlocker(
  { prepare, clientOf }: Pick<StageEffects, 'prepare' | 'clientOf'>,
  pod: Pod,
  podIp: string | undefined,
): Promise<StageEvent | undefined> {
  if (podIp === undefined)
    return {
      type: 'Warning',
      reason: 'FailedCreatePodSandBox',
      message: "the node's pod CIDR has no free addresses",
    }
  const reason = await prepare?.(pod, clientOf(pod.spec!.nodeName!))
  return reason === undefined ? undefined : { type: 'Warning', reason: 'FailedMount', message: reason }
}

async function whyNotStarted(
  effects: StageEffects,
  { pod, next: { step, patches }, podIp }: Starting,
): Promise<StageEvent | undefined> {
  const isStart = step === 'Start' || step === 'StartUnready' || (patches.length > 0 && !pod.status?.podIP)
  return isStart ? await startBlocker(effects, pod, podIp) : undefined
}

interface StatusWrite {
  readonly client: Client
  readonly pod: Pod
  readonly podJson: JsonObject
  readonly next: Next
  readonly podIp: string
}

async function writeStatus(effects: StageEffects, write: StatusWrite, signal: AbortSignal): Promise<Pod> {
  const { client, pod, next } = write
  if (next.step === undefined) return pod
  // A pod without finalizers is deleted by the next request, so it needs no final status.
  if (next.step === 'Terminate' && (pod.metadata.finalizers ?? []).length === 0) return pod
  const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
  if (next.step === 'Terminate' && isOver) return pod
  const now = effects.clock.now()
  const { address: hostIp, kubernetesVersion: version = oldestVersion } = effects.nodeOf(pod.spec!.nodeName!)
  const transition = podTransitions[next.step](pod, {
    now,
    hostIp,
    podIp: write.podIp,
    exitCode: exitCodeOf(next, write.podJson),
    reason: next.reason ?? '',
    message: next.message ?? '',
  })
  const status = reportedStatus(pod, transition, { version, now })
  if (next.step === 'End' && isBackingOff(status)) effects.record(pod, backOffEvent)
  return await client.update(kinds.Pod, { ...pod, status }, { subresource: 'status', signal })
}

const backOffEvent: StageEvent = {
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container',
}

function isBackingOff({ containerStatuses = [] }: PodStatus): boolean {
  return containerStatuses.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff')
}

function exitCodeOf({ exitCodeFrom }: Next, podJson: JsonObject): number {
  const [exitCodeValue] = exitCodeFrom?.(podJson) ?? []
  const code = Number(exitCodeValue ?? 0)
  return Number.isInteger(code) && code >= 0 && code <= 255 ? code : 1
}

/**
 * Deletes the pod without a grace period, on behalf of the node. The server deletes the pod with this UID immediately,
 * or as soon as its last finalizer is removed.
 */
export async function deleteNow(client: Client, { metadata }: Pod, signal: AbortSignal): Promise<void> {
  const { name = '', namespace = '', uid } = metadata
  const preconditions = uid === undefined ? {} : { uid }
  await client
    .delete(kinds.Pod, { name, namespace }, { gracePeriodSeconds: 0, preconditions, signal })
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error
    })
}
