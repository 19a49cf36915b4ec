/** The taints that follow from the state of a node: which it should have, and which pods may stay in spite of them. */
import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Taint } from '../../../api/kinds/core/types/taint.ts'
import { tolerates } from '../../../api/model/tolerations.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

/** Whether a node is ready: True, False, or Unknown where it is not heard of; empty before anything is known of it. */
export function readiness({ status }: Node): string {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''
}

/** The taints of conditions, by the type of the condition and its status, as `Ready=False`. */
const taintsOfConditions: ReadonlyMap<string, string> = new Map([
  ['Ready=False', 'not-ready'],
  ['Ready=Unknown', 'unreachable'],
  ['MemoryPressure=True', 'memory-pressure'],
  ['DiskPressure=True', 'disk-pressure'],
  ['NetworkUnavailable=True', 'network-unavailable'],
  ['PIDPressure=True', 'pid-pressure'],
])

function taintKey(vendor: Vendor, name: string): string {
  return vendorKey(vendor, name, 'node')
}

/** The keys of NoSchedule taints that are derived from a node, and no others. */
function derivedKeys(vendor: Vendor): Set<string> {
  return new Set([...taintsOfConditions.values(), 'unschedulable'].map((name) => taintKey(vendor, name)))
}

/** What a node should be tainted with. */
export interface WantedTaints {
  /** Whether pods may be driven out of a node that is not ready now. */
  readonly mayEvict: boolean
  readonly now: string
}

/** The taints of a node as they should be; undefined where they are. */
export function wantedTaints(node: Node, vendor: Vendor, { mayEvict, now }: WantedTaints): Taint[] | undefined {
  const { taints = [], unschedulable } = node.spec ?? {}
  const names = (node.status?.conditions ?? []).flatMap(
    ({ type = '', status = '' }) => taintsOfConditions.get(`${type}=${status}`) ?? [],
  )
  const noSchedule = [...names, ...(unschedulable ? ['unschedulable'] : [])].map((name) => taintKey(vendor, name))
  const noExecute = evictionKey(node, vendor)
  const derived = derivedKeys(vendor)
  const eviction = new Set(['not-ready', 'unreachable'].map((name) => taintKey(vendor, name)))
  const kept = taints.filter(({ key = '', effect }) => {
    if (effect === 'NoSchedule' && derived.has(key)) return noSchedule.includes(key)
    return !(effect === 'NoExecute' && eviction.has(key)) || key === noExecute
  })
  const has = (key: string, effect: string) => kept.some((each) => each.key === key && each.effect === effect)
  const added: Taint[] = noSchedule
    .filter((key) => !has(key, 'NoSchedule'))
    .map((key) => ({ key, effect: 'NoSchedule', timeAdded: now }))
  if (noExecute !== undefined && mayEvict && !has(noExecute, 'NoExecute'))
    added.push({ key: noExecute, effect: 'NoExecute', timeAdded: now })
  return added.length === 0 && kept.length === taints.length ? undefined : [...kept, ...added]
}

/** The key of the taint that drives pods out; undefined for a node that is ready. */
export function evictionKey(node: Node, vendor: Vendor): string | undefined {
  const name = taintsOfConditions.get(`Ready=${readiness(node)}`)
  return name === undefined ? undefined : taintKey(vendor, name)
}

export function evictingTaints({ spec }: Node): Taint[] {
  return (spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
}

/**
 * For how many milliseconds a pod may stay on a node with such taints: 0 where it tolerates one of them not at all,
 * infinitely long where it tolerates all of them.
 */
export function toleratedMs({ spec }: Pod, taints: readonly Taint[]): number {
  const used = taints.map((taint) => spec?.tolerations?.find((each) => tolerates(each, taint)))
  if (used.includes(undefined)) return 0
  const seconds = used.flatMap((each) => each?.tolerationSeconds ?? [])
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...seconds.map((each) => each * 1000)))
}
