/**
 * On which nodes the pods of a DaemonSet run: those that its template allows by node name, selector and required affinity,
 * and whose taints it tolerates. The scheduler places each pod; the affinity to a node's name leaves it one choice.
 */
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Node } from '../../../../api/kinds/core/node.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Toleration } from '../../../../api/kinds/core/types/scheduling.ts'
import { isTolerated } from '../../../../api/model/tolerations.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { LabelMatcher, requirementsOf } from '../../../../api/selectors/label-selector.ts'
import { selectableNode, selectsNode } from '../../../../api/selectors/node-selector.ts'

/** Whether a pod is to be on a node, and whether one that is there may stay. */
export interface Fitness {
  readonly shouldRun: boolean
  readonly mayStay: boolean
}

const unfit: Fitness = { shouldRun: false, mayStay: false }

/** What nodes are to the template of a DaemonSet. */
export function fitnessFor(vendor: Vendor, { spec }: DaemonSet): (node: Node) => Fitness {
  const { nodeName = '', nodeSelector = {}, affinity } = spec?.template?.spec ?? {}
  const tolerations = daemonTolerations(vendor, spec?.template?.spec)
  const labels = new LabelMatcher(requirementsOf({ matchLabels: nodeSelector }))
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return (node) => {
    if (nodeName !== '' && nodeName !== node.metadata.name) return unfit
    if (!labels.matches(node.metadata.labels)) return unfit
    if (required !== undefined && !selectsNode(required.nodeSelectorTerms ?? [], selectableNode(node))) return unfit
    const untolerated = (node.spec?.taints ?? []).filter((taint) => !isTolerated(taint, tolerations))
    const repels = (...effects: string[]) => untolerated.some(({ effect = '' }) => effects.includes(effect))
    return { shouldRun: !repels('NoSchedule', 'NoExecute'), mayStay: !repels('NoExecute') }
  }
}

type PodSpec = NonNullable<Pod['spec']>

const borne: readonly (readonly [string, Toleration['effect']])[] = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
]

/** The tolerations of the template, and those by which the pods of a DaemonSet stay on nodes that are in trouble. */
export function daemonTolerations(vendor: Vendor, { tolerations = [], hostNetwork }: PodSpec = {}): Toleration[] {
  const wanted = [...borne, ...(hostNetwork === true ? [['network-unavailable', 'NoSchedule'] as const] : [])]
  const own = wanted.map(([name, effect]): Toleration => {
    return { key: vendorKey(vendor, name, 'node'), operator: 'Exists', ...(effect === undefined ? {} : { effect }) }
  })
  const isReplaced = (each: Toleration) =>
    own.some(({ key, effect }) => each.key === key && each.effect === effect && each.operator === 'Exists')
  return [...tolerations.filter((each) => !isReplaced(each)), ...own]
}

/** The affinity of a pod that may run on this node alone. */
export function affinityToNode(affinity: PodSpec['affinity'], node: string): NonNullable<PodSpec['affinity']> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  const required = { nodeSelectorTerms: [{ matchFields }] }
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required }
  return { ...affinity, nodeAffinity }
}

/** The node that a pod runs on or is meant for. */
export function targetNode({ spec }: Pod): string | undefined {
  if ((spec?.nodeName ?? '') !== '') return spec?.nodeName
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In' && values.length === 1) return values[0]
  return undefined
}
