/** Rules about the node itself: name, schedulability, taints, labels and host ports. */

import { isTolerated } from '../../../api/model/tolerations.ts'
import { vendorKey } from '../../../api/model/vendor.ts'
import {
  type NodeSelectorTerm,
  type SelectableNode,
  selectsNode,
  termSelectsNode,
} from '../../../api/selectors/node-selector.ts'
import type { Taint } from '../node-info.ts'
import { happened, normalizeByMax, type Plugin, type Refusal } from '../plugin.ts'
import type { PodInfo } from '../pod-info.ts'

const unschedulable: Refusal = {
  plugin: 'NodeUnschedulable',
  reasons: ['node(s) were unschedulable'],
  isFinal: true,
}

/** Excludes nodes that are marked as unschedulable, unless the Pod tolerates the corresponding taint. */
export const nodeUnschedulable: Plugin = {
  name: 'NodeUnschedulable',
  wokenBy: happened.nodeAdded | happened.nodeTaints,
  filter: ({ spec }, { vendor }) => {
    const taint = { key: vendorKey(vendor, 'unschedulable', 'node'), effect: 'NoSchedule' }
    if (isTolerated(taint, spec.tolerations ?? [])) return undefined
    return { check: ({ isUnschedulable }) => (isUnschedulable ? unschedulable : undefined) }
  },
}

const otherName: Refusal = {
  plugin: 'NodeName',
  reasons: ["node(s) didn't match the requested node name"],
  isFinal: true,
}

export const nodeName: Plugin = {
  name: 'NodeName',
  wokenBy: happened.nodeAdded,
  filter: ({ nodeName: requiredNode }) =>
    requiredNode === '' ? undefined : { check: ({ name }) => (name === requiredNode ? undefined : otherName) },
}

/**
 * Excludes nodes with taints that the Pod does not tolerate, and prefers nodes with fewer untolerated PreferNoSchedule
 * taints.
 */
export const taintToleration: Plugin = {
  name: 'TaintToleration',
  wokenBy: happened.nodeAdded | happened.nodeTaints,
  filter: ({ spec: { tolerations = [] } }) => ({
    check: ({ taints }) => {
      if (taints.length === 0) return undefined
      const taint = taints.find((each) => keepsAway(each) && !isTolerated(each, tolerations))
      return taint && untolerated(taint)
    },
  }),
  score: ({ spec: { tolerations = [] } }, _, nodes) => {
    const mild = ({ effect }: Taint) => effect === 'PreferNoSchedule'
    if (!nodes.some(({ taints }) => taints.some(mild))) return undefined
    return {
      score: ({ taints }) => taints.filter((taint) => mild(taint) && !isTolerated(taint, tolerations)).length,
      normalize: (scores) => normalizeByMax(scores, { isReversed: true }),
    }
  },
}

/** Whether a taint excludes Pods that do not tolerate it. */
export function keepsAway({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute'
}

function untolerated({ key = '', value = '' }: Taint): Refusal {
  const reason = `node(s) had taint {${key}: ${value}}, that the pod didn't tolerate`
  return { plugin: 'TaintToleration', reasons: [reason], isFinal: true }
}

const noAffinity: Refusal = {
  plugin: 'NodeAffinity',
  reasons: ["node(s) didn't match Pod's node affinity/selector"],
  isFinal: true,
}

/** Applies the required and preferred node labels of a Pod. */
export const nodeAffinity: Plugin = {
  name: 'NodeAffinity',
  wokenBy: happened.nodeAdded | happened.nodeLabels,
  filter: (pod) => {
    const suits = nodeMatcher(pod)
    return suits && { check: (node) => (suits(node) ? undefined : noAffinity) }
  },
  score: ({ spec }) => {
    const { preferredDuringSchedulingIgnoredDuringExecution: terms = [] } = spec.affinity?.nodeAffinity ?? {}
    if (terms.length === 0) return undefined
    return {
      score: (node) =>
        terms.reduce(
          (sum, { weight = 0, preference = {} }) =>
            termSelectsNode(preference as NodeSelectorTerm, node) ? sum + weight : sum,
          0,
        ),
      normalize: (scores) => normalizeByMax(scores),
    }
  },
}

/** Returns a matcher for the node labels that the Pod requires, or undefined if the Pod requires no labels. */
export function nodeMatcher({ spec }: Pick<PodInfo, 'spec'>): ((node: SelectableNode) => boolean) | undefined {
  const pairs = Object.entries(spec.nodeSelector ?? {})
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (pairs.length === 0 && required === undefined) return undefined
  const terms = (required?.nodeSelectorTerms ?? []) as readonly NodeSelectorTerm[]
  return (node) =>
    pairs.every(([key, value]) => node.label(key) === value) && (required === undefined || selectsNode(terms, node))
}

const portsTaken: Refusal = {
  plugin: 'NodePorts',
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  isFinal: false,
}

/** Excludes nodes on which another Pod uses a requested host port. */
export const nodePorts: Plugin = {
  name: 'NodePorts',
  wokenBy: happened.nodeAdded | happened.podGone,
  filter: ({ hostPorts }) =>
    hostPorts.length === 0
      ? undefined
      : { check: (node) => (hostPorts.some((port) => node.isTaken(port)) ? portsTaken : undefined) },
}
