/** Decides which pods on a node `drain` evicts, which pods it ignores, and which pods prevent the drain. */

import type { ApiObject } from '../../../../api/model/object.ts'
import { vendorKey } from '../../../../api/model/vendor.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { isNotFound } from '../../../../client/requests/status-error.ts'
import { sessionWithoutNulls } from '../../changes/remove-nulls.ts'
import type { Session } from '../../connection/session.ts'

export interface DrainedPod extends ApiObject {
  spec?: { volumes?: { emptyDir?: object }[] }
  status?: { phase?: string }
}

interface Choice {
  readonly force: boolean
  readonly ignoreDaemonSets: boolean
  readonly deleteEmptyDirData: boolean
  readonly podSelector: string
  readonly chunkSize: number
  /**
   * The drain does not wait for pods that have been terminating for more than this number of seconds. If the number is
   * 0, the drain waits for all pods.
   */
  readonly skipWaitForDeleteTimeout: number
}

export interface Chosen {
  readonly pods: readonly DrainedPod[]
  /** The reasons why the drain must not start: one message per reason, with the affected pods. */
  readonly refusals: readonly string[]
  readonly warnings: readonly string[]
}

/** Whether to evict a pod, with an optional warning or a reason to abort the drain. */
interface Verdict {
  readonly evict: boolean
  readonly refusal?: string
  readonly warning?: string
}

const unmanaged = 'Pods not managed by ReplicationController, ReplicaSet, Job, DaemonSet or StatefulSet'

export async function choosePods(session: Session, node: string, choice: Choice): Promise<Chosen> {
  const { items } = await sessionWithoutNulls(session).client.list(kinds.Pod, {
    fieldSelector: `spec.nodeName=${node}`,
    ...(choice.podSelector === '' ? {} : { labelSelector: choice.podSelector }),
    limit: choice.chunkSize,
    signal: session.context.signal,
  })
  const mirror = vendorKey(await session.types.vendor(), 'config.mirror')
  const judged: { pod: DrainedPod; verdict: Verdict }[] = []
  for (const pod of items as DrainedPod[])
    if (pod.metadata.annotations?.[mirror] === undefined)
      judged.push({ pod, verdict: await verdictOn(session, pod, choice) })
  return {
    pods: judged.filter(({ verdict }) => verdict.evict).map(({ pod }) => pod),
    refusals: sentences(judged, 'refusal'),
    warnings: sentences(judged, 'warning'),
  }
}

/** Whether the pod has been terminating for so long that it may never stop, for example because its node is lost. */
function isStuck({ metadata: { deletionTimestamp } }: DrainedPod, { skipWaitForDeleteTimeout }: Choice): boolean {
  if (skipWaitForDeleteTimeout === 0 || deletionTimestamp === undefined) return false
  return Date.now() - Date.parse(deletionTimestamp) > skipWaitForDeleteTimeout * 1000
}

async function verdictOn(session: Session, pod: DrainedPod, choice: Choice): Promise<Verdict> {
  if (isStuck(pod, choice)) return { evict: false }
  if (['Succeeded', 'Failed'].includes(pod.status?.phase ?? '')) return { evict: true }
  const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)
  if (owner?.kind === 'DaemonSet' && (await isThere(session, pod, owner.name))) {
    if (!choice.ignoreDaemonSets)
      return { evict: false, refusal: 'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)' }
    return { evict: false, warning: 'ignoring DaemonSet-managed Pods' }
  }
  // Evicting this pod requires --force, because no controller would recreate it.
  const isManaged = owner !== undefined && owner.kind !== 'DaemonSet'
  if (!isManaged && !choice.force)
    return { evict: false, refusal: `cannot delete ${unmanaged} (use --force to override)` }
  const hasData = (pod.spec?.volumes ?? []).some(({ emptyDir }) => emptyDir !== undefined)
  if (hasData && !choice.deleteEmptyDirData)
    return { evict: false, refusal: 'cannot delete Pods with local storage (use --delete-emptydir-data to override)' }
  if (!isManaged) return { evict: true, warning: `deleting ${unmanaged}` }
  return { evict: true, ...(hasData && { warning: 'deleting Pods with local storage' }) }
}

async function isThere({ client, context }: Session, { metadata }: ApiObject, name: string): Promise<boolean> {
  try {
    await client.get(kinds.DaemonSet, { namespace: metadata.namespace ?? '', name }, { signal: context.signal })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

/** Writes a line such as `REASON: a/b, c/d` for each reason, with the affected pods. */
function sentences(judged: readonly { pod: DrainedPod; verdict: Verdict }[], which: 'refusal' | 'warning'): string[] {
  const groups = Map.groupBy(
    judged.filter(({ verdict }) => verdict[which] !== undefined),
    ({ verdict }) => verdict[which]!,
  )
  return [...groups].map(
    ([reason, pods]) =>
      `${reason}: ${pods.map(({ pod: { metadata } }) => `${metadata.namespace}/${metadata.name}`).join(', ')}`,
  )
}
