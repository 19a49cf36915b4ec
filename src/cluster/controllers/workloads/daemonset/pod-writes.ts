/** The writes of a DaemonSet's pods: at most 250 creations and as many deletions in a step, creations in growing batches. */
import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { slowStart, writeAll } from '../batches.ts'
import { createPod, deletePod, isNamespaceEnding, PodGoneError, podFromTemplate } from '../pod-control.ts'
import type { DaemonStep } from './parts.ts'
import { affinityToNode, daemonTolerations } from './placement.ts'

/** The label of a pod that has the hash of its template. */
export const hashLabel = 'controller-revision-hash'
const generationLabel = 'pod-template-generation'
const generationKey = 'deprecated.daemonset.template.generation'

const maxBurst = 250

/** What is to be written. */
export interface Moves {
  readonly surplus: readonly Pod[]
  /** The names of nodes that lack a pod. */
  readonly lacking: readonly string[]
}

/** Whether a pod is of the present template. */
export function isUpdated({ set, hash }: DaemonStep, { metadata: { labels = {} } }: Pod): boolean {
  const generation = generationOf(set)
  return labels[hashLabel] === hash || (generation !== undefined && labels[generationLabel] === generation)
}

function generationOf({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[generationKey]
}

/** Makes the moves. Throws the first failure when all have been tried. */
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
