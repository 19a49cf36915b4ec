/**
 * For the description of a pending Pod, explains why the scheduler finds no suitable node, with the reasons for each
 * node.
 */

import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { ObjectBase } from '../../../../api/model/object.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { inDomainOf, type ResourceType } from '../../../../client/requests/resource-type.ts'
import { StatusError } from '../../../../client/requests/status-error.ts'
import { explainNodes, type NodeVerdict, type PlacingObjects } from '../../../../cluster/scheduler/explain-nodes.ts'
import type { Session } from '../../connection/session.ts'

const maxNodes = 50
const running = 'spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed'

/** Returns '' unless the Pod is waiting for a node. */
export async function pendingText(pod: Pod, session: Session): Promise<string> {
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (pod.spec?.nodeName || scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return ''
  try {
    const vendor = await session.types.vendor()
    return verdictsText(explainNodes(pod, await placingObjects(pod, session), vendor))
  } catch (error) {
    if (!(error instanceof StatusError)) throw error
    return `Nodes:\t<unknown: ${error.message}>\n`
  }
}

function verdictsText(verdicts: readonly NodeVerdict[]): string {
  if (verdicts.length === 0) return 'Nodes:\t<none>\n'
  const rows = verdicts.slice(0, maxNodes).map(({ node, reasons }) => `  ${node}\t${reasons.join(', ') || 'fits'}\n`)
  const more = verdicts.length > maxNodes ? `  ...\tand ${verdicts.length - maxNodes} more\n` : ''
  return `Nodes:\n${rows.join('')}${more}`
}

/** Fetches the objects that affect the scheduling of this Pod. Skips types to which the Pod does not refer. */
async function placingObjects(pod: Pod, { client, types, context }: Session): Promise<PlacingObjects> {
  const { affinity, volumes = [] } = pod.spec ?? {}
  const vendor = await types.vendor()
  const list = async <T extends ObjectBase>(type: ResourceType<T>, options = {}): Promise<T[]> =>
    (await client.list(inDomainOf(vendor, type), { ...options, signal: context.signal })).items
  const usesClaims = volumes.some(({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral)
  const ofStorage = async <T extends ObjectBase>(type: ResourceType<T>): Promise<T[]> =>
    usesClaims ? await list(type) : []
  return {
    nodes: await list(kinds.Node),
    pods: await list(kinds.Pod, { fieldSelector: running }),
    namespaces: affinity === undefined ? [] : await list(kinds.Namespace),
    claims: await ofStorage(kinds.PersistentVolumeClaim),
    volumes: await ofStorage(kinds.PersistentVolume),
    classes: await ofStorage(kinds.StorageClass),
    csiNodes: await ofStorage(kinds.CSINode),
  }
}
