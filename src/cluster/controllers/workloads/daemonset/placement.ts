/**
 * Decides which nodes run the pods of a DaemonSet: nodes that match the template's node name, selector and required
 * affinity, and whose taints the template tolerates. Each pod has an affinity to a single node, to which the scheduler
 * binds it.
 */
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Node } from '../../../../api/kinds/core/node.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import type { Toleration } from '../../../../api/kinds/core/types/scheduling.ts'
import { isTolerated } from '../../../../api/model/tolerations.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { LabelMatcher, requirementsOf } from '../../../../api/selectors/label-selector.ts'
import { selectableNode, selectsNode } from '../../../../api/selectors/node-selector.ts'

/** Whether a node should run a pod, and whether an existing pod may stay. */
export interface Fitness {
  readonly shouldRun: boolean
  readonly mayStay: boolean
}

const unfit: Fitness = { shouldRun: false, mayStay: false }

/** Returns a function that evaluates nodes for a DaemonSet's template. */
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

/**
 * Returns the tolerations of a DaemonSet's pods: the tolerations in the template, and additional tolerations that let
 * the pods stay on nodes with problems.
 */
export function daemonTolerations(vendor: Vendor, { tolerations = [], hostNetwork }: PodSpec = {}): Toleration[] {
  const toleratedTaints = [...borne, ...(hostNetwork === true ? [['network-unavailable', 'NoSchedule'] as const] : [])]
  const own = toleratedTaints.map(([name, effect]): Toleration => {
    return { key: vendorKey(vendor, name, 'node'), operator: 'Exists', ...(effect === undefined ? {} : { effect }) }
  })
  const isReplaced = (each: Toleration) =>
    own.some(({ key, effect }) => each.key === key && each.effect === effect && each.operator === 'Exists')
  return [...tolerations.filter((each) => !isReplaced(each)), ...own]
}

/** Returns the affinity with an additional requirement for this node. */
export function affinityToNode(affinity: PodSpec['affinity'], node: string): NonNullable<PodSpec['affinity']> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  const required = { nodeSelectorTerms: [{ matchFields }] }
  const nodeAffinity = { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required }
  return { ...affinity, nodeAffinity }
}

/** Returns the name of the node on which a pod runs or for which it is intended. */
export function targetNode({ spec }: Pod): string | undefined {
  if ((spec?.nodeName ?? '') !== '') return spec?.nodeName
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? [])
    for (const { key, operator, values = [] } of matchFields)
      if (key === 'metadata.name' && operator === 'In' && values.length === 1) return values[0]
  return undefined
}
