/** Computes the status of a DaemonSet: the number of nodes that run its pod, and the number that should run it. */

import type { DaemonSet } from '../../../../api/kinds/apps/daemon-set.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { ignoreNotFound } from '../../ignore-not-found.ts'
import { isAvailable, isReady } from '../pod-state.ts'
import { sameStatus } from '../same-status.ts'
import type { DaemonStep } from './parts.ts'
import { isUpdated } from './pod-writes.ts'

/** Writes the status. The generation is reported as observed only after all earlier writes have been observed. */
export async function writeStatus(
  step: DaemonStep,
  { isObserved, collisions }: { readonly isObserved: boolean; readonly collisions: number | undefined },
): Promise<void> {
  const { set, state, signal } = step
  const { observedGeneration = 0, conditions } = set.status ?? {}
  const status: DaemonSet['status'] = {
    ...countNodes(step),
    observedGeneration: isObserved ? (set.metadata.generation ?? 0) : observedGeneration,
    ...(collisions === undefined ? {} : { collisionCount: collisions }),
    ...(conditions === undefined ? {} : { conditions }),
  }
  if (sameStatus(status, set.status ?? {})) return
  await ignoreNotFound(state.client.update(kinds.DaemonSet, { ...set, status }, { subresource: 'status', signal }))
}

/** Counts the nodes. Considers only the first pod on each node. */
function countNodes(step: DaemonStep) {
  const { minReadySeconds = 0 } = step.set.spec ?? {}
  const now = step.state.clock.now()
  const counts = {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
    updatedNumberScheduled: 0,
    numberAvailable: 0,
    numberUnavailable: 0,
  }
  for (const [node, { shouldRun }] of step.nodes) {
    const [pod] = step.byNode.get(node) ?? []
    if (!shouldRun) {
      if (pod !== undefined) counts.numberMisscheduled++
      continue
    }
    counts.desiredNumberScheduled++
    if (pod === undefined) continue
    counts.currentNumberScheduled++
    counts.numberReady += Number(isReady(pod))
    counts.numberAvailable += Number(isAvailable(pod, minReadySeconds, now))
    counts.updatedNumberScheduled += Number(isUpdated(step, pod))
  }
  counts.numberUnavailable = counts.desiredNumberScheduled - counts.numberAvailable
  return counts
}
