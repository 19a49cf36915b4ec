/**
 * Writes the pods of a DaemonSet. Each step performs at most 250 creates, in growing batches, and at most 250 deletes.
 */
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { slowStart, writeAll } from '../batches.ts'
import { createPod, deletePod, isNamespaceEnding, PodGoneError, podFromTemplate } from '../pod-control.ts'
import type { DaemonStep } from './parts.ts'
import { affinityToNode, daemonTolerations } from './placement.ts'

/** Key of the pod label that contains the hash of the template. */
export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationKey = 'deprecated.daemonset.template.generation'

const maxBurst = 250

/** Pods to delete, and nodes that need a new pod. */
export interface Moves {
  readonly surplus: readonly Pod[]
  /** Names of the nodes that need a new pod. */
  readonly lacking: readonly string[]
}

/** Whether a pod was created from the current template. */
export function isUpdated({ set, hash }: DaemonStep, { metadata: { labels = {} } }: Pod): boolean {
  const generation = generationOf(set)
  return labels[hashLabel] === hash || (generation !== undefined && labels[generationLabel] === generation)
}

function generationOf({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[generationKey]
}

/** Creates and deletes pods. Attempts all writes and then throws the first failure. */
export async function makeMoves(step: DaemonStep, { surplus, lacking }: Moves): Promise<void> {
  const { expectations } = step.state
  const { uid = '' } = step.set.metadata
  const nodes = lacking.slice(0, maxBurst)
  const going = surplus.slice(0, maxBurst)
  expectations.expectCreations(uid, nodes.length)
  expectations.expectDeletions(uid, going.map(uidOf))
  const created = await slowStart(nodes.length, (i) => createOn(step, nodes[i]!))
  expectations.settleCreation(uid, nodes.length - created.succeeded)
  const deleted = await writeAll(going.length, (i) => remove(step, going[i]!))
  for (const outcome of [created, deleted])
    if ('error' in outcome && !isNamespaceEnding(outcome.error)) throw outcome.error
}

const uidOf = ({ metadata }: Pod) => metadata.uid ?? ''

async function createOn({ state, set, hash, signal }: DaemonStep, node: string): Promise<void> {
  const { metadata, spec } = podFromTemplate(set.spec?.template, set)
  const generation = generationOf(set)
  const labels = {
    ...metadata.labels,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
    [hashLabel]: hash,
  }
  const pod = {
    metadata: { ...metadata, labels },
    spec: {
      ...spec,
      tolerations: daemonTolerations(state.vendor, spec),
      affinity: affinityToNode(spec?.affinity, node),
    },
  }
  await createPod(state, set, { pod, signal })
}

async function remove({ state, set, signal }: DaemonStep, pod: Pod): Promise<void> {
  try {
    await deletePod(state, set, { pod, signal })
  } catch (error) {
    state.expectations.settleDeletion(set.metadata.uid ?? '', uidOf(pod))
    if (!(error instanceof PodGoneError)) throw error
  }
}
