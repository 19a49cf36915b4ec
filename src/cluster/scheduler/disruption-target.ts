/**
 * Sets the condition DisruptionTarget, which indicates that the cluster terminated the Pod, rather than the Pod's own
 * program. Kubernetes has set this condition since 1.26. The pod failure policy of a Job can refer to it.
 */
import type { JsonObject } from '../../api/json/json.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import { timestamp } from '../../api/model/object.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOf, type ResourceType } from '../../client/requests/resource-type.ts'

/** Reason and message for the condition DisruptionTarget. */
export interface Disruption {
  readonly reason: string
  readonly message: string
}

/** The client and other inputs for writing a Pod's status. */
export interface DisruptionWrite {
  readonly client: Client
  readonly type: ResourceType<Pod>
  readonly now: number
  readonly signal: AbortSignal
  readonly fieldManager?: string
}

/** Adds the condition DisruptionTarget to the Pod, unless the Pod already has it for the same reason. */
export async function recordDisruption(pod: Pod, disruption: Disruption, write: DisruptionWrite): Promise<void> {
  const conditions = newConditions(pod, disruption, write.now)
  if (conditions.length > 0) await patchStatus(pod, { conditions }, write)
}

/** Marks the Pod as failed, and adds the condition DisruptionTarget if there is a disruption. */
export async function failPod(pod: Pod, disruption: Disruption | undefined, write: DisruptionWrite): Promise<void> {
  const conditions = disruption === undefined ? [] : newConditions(pod, disruption, write.now)
  await patchStatus(pod, { phase: 'Failed', ...(conditions.length > 0 && { conditions }) }, write)
}

function newConditions({ status }: Pod, { reason, message }: Disruption, now: number) {
  const before = status?.conditions?.find((condition) => condition.type === 'DisruptionTarget')
  const isSet = before?.status === 'True'
  if (isSet && before.reason === reason && before.message === message) return []
  const lastTransitionTime = (isSet ? before.lastTransitionTime : undefined) ?? timestamp(now)
  return [{ type: 'DisruptionTarget', status: 'True', reason, message, lastTransitionTime }]
}

async function patchStatus(pod: Pod, status: JsonObject, write: DisruptionWrite): Promise<void> {
  const { client, type, now: _, ...options } = write
  const patch = { strategic: { metadata: { uid: pod.metadata.uid! }, status } }
  await client.patch(type, nameOf(pod), { ...options, subresource: 'status', patch })
}
