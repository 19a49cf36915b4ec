/** Derives a node's taints from its conditions, and computes how long pods tolerate taints. */
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Taint } from '../../../api/kinds/core/types/taint.ts'
import { tolerates } from '../../../api/model/tolerations.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/**
 * Returns the status of the Ready condition: True, False, Unknown if the node is silent, or '' before the first report.
 */
export function readiness({ status }: Node): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''
}

/** Taint names by condition type and status, such as `Ready=False`. */
const taintsOfConditions: ReadonlyMap<string, string> = new Map([
  ['Ready=False', 'not-ready'],
  ['Ready=Unknown', 'unreachable'],
  ['MemoryPressure=True', 'memory-pressure'],
  ['DiskPressure=True', 'disk-pressure'],
  ['NetworkUnavailable=True', 'network-unavailable'],
  ['PIDPressure=True', 'pid-pressure'],
])

export function taintKey(vendor: Vendor, name: string): string {
  return vendorKey(vendor, name, 'node')
}

/** Returns the keys of all NoSchedule taints that this loop manages. */
function derivedKeys(vendor: Vendor): Set<string> {
  return new Set([...taintsOfConditions.values(), 'unschedulable'].map((name) => taintKey(vendor, name)))
}

/** Whether NoExecute taints may be added now, and the time to record in added taints. */
export interface WantedTaints {
  /** Whether a node that is not ready may get the NoExecute taint now. */
  readonly mayEvict: boolean
  readonly now: string
}

/** Returns the desired taints of a node, or undefined if they are up to date. */
export function wantedTaints(node: Node, vendor: Vendor, { mayEvict, now }: WantedTaints): Taint[] | undefined {
  const { taints = [], unschedulable } = node.spec ?? {}
  const names = (node.status?.conditions ?? []).flatMap(
    ({ type = '', status = '' }) => taintsOfConditions.get(`${type}=${status}`) ?? [],
  )
  const noSchedule = [...names, ...(unschedulable ? ['unschedulable'] : [])].map((name) => taintKey(vendor, name))
  const noExecute = evictionKey(node, vendor)
  const derived = derivedKeys(vendor)
  const eviction = new Set(['not-ready', 'unreachable'].map((name) => taintKey(vendor, name)))
  const remainingTaints = taints.filter(({ key = '', effect }) => {
    if (effect === 'NoSchedule' && derived.has(key)) return noSchedule.includes(key)
    return !(effect === 'NoExecute' && eviction.has(key)) || key === noExecute
  })
  const has = (key: string, effect: string) =>
    remainingTaints.some((each) => each.key === key && each.effect === effect)
  const added: Taint[] = noSchedule
    .filter((key) => !has(key, 'NoSchedule'))
    .map((key) => ({ key, effect: 'NoSchedule', timeAdded: now }))
  if (noExecute !== undefined && mayEvict && !has(noExecute, 'NoExecute'))
    added.push({ key: noExecute, effect: 'NoExecute', timeAdded: now })
  return added.length === 0 && remainingTaints.length === taints.length ? undefined : [...remainingTaints, ...added]
}

/** Returns the key of the NoExecute taint for a node's readiness, or undefined if the node is ready. */
export function evictionKey(node: Node, vendor: Vendor): string | undefined {
  const name = taintsOfConditions.get(`Ready=${readiness(node)}`)
  return name === undefined ? undefined : taintKey(vendor, name)
}

export function evictingTaints({ spec }: Node): Taint[] {
  return (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
}

/**
 * Returns how long a pod may stay on a node with these taints, in milliseconds. Returns 0 if the pod does not tolerate
 * one of the taints, and Infinity if the pod tolerates all of them without a time limit.
 */
export function toleratedMs({ spec }: Pod, taints: readonly Taint[]): number {
  const used = taints.map((taint) => spec?.tolerations?.find((each) => tolerates(each, taint)))
  if (used.includes(undefined)) return 0
  const seconds = used.flatMap((each) => each?.tolerationSeconds ?? [])
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...seconds.map((each) => each * 1000)))
}
