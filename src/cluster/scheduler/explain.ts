/**
 * Explains why a Pod is unschedulable, with the same wording as kube-scheduler: lists the number of nodes for each
 * reason.
 */
import type { NodeInfo } from './node-info.ts'
import type { Refusal } from './plugin.ts'

/** Returns a message such as `0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable.` */
export function explainRefusals(refusals: ReadonlyMap<NodeInfo, Refusal>, nodes: number): string {
  if (nodes === 0) return 'no nodes available to schedule pods'
  const counts = new Map<string, number>()
  for (const { reasons } of refusals.values())
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  return `0/${nodes} nodes are available: ${parts.join(', ')}.`
}
