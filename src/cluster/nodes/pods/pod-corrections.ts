/**
 * Corrects the status of running pods independently of stages. The corrections concern readiness that another client
 * changed, ephemeral containers that a user added, resized resources, and the observed generation.
 */
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { PodStatus } from '../../../api/kinds/core/types/pod-status.ts'
import { timestamp } from '../../../api/model/object.ts'
import { idOf } from './container-id.ts'
import { type Fit, resized } from './pod-resize.ts'
import { correctedReadiness } from './pod-transitions.ts'
import { lagsBehind, type Reporter } from './reported-status.ts'

/** Returns the corrected status of a running pod, or undefined if its status is already correct. */
export function corrected(pod: Pod, { version, now }: Reporter, fit: () => Fit): PodStatus | undefined {
  const { status, metadata } = pod
  if (status?.phase !== 'Running' || metadata.deletionTimestamp !== undefined) return undefined
  const changes = correctedReadiness(pod, now) ?? withEphemeralContainers(pod, now) ?? resized(pod, now, fit)
  return changes ?? (lagsBehind(pod, version) ? status : undefined)
}

/** Starts the ephemeral containers that have no status yet. */
function withEphemeralContainers(pod: Pod, now: number): PodStatus | undefined {
  const { spec, status = {} } = pod
  const present = status.ephemeralContainerStatuses ?? []
  const names = new Set(present.map(({ name }) => name))
  const added = (spec?.ephemeralContainers ?? []).filter(({ name }) => !names.has(name))
  if (added.length === 0) return undefined
  const started = added.map(({ name = '', image = '' }) => ({
    name,
    image,
    imageID: `simulated://${image}`,
    containerID: idOf(pod, name, 0),
    ready: false,
    restartCount: 0,
    state: { running: { startedAt: timestamp(now) } },
  }))
  return { ...status, ephemeralContainerStatuses: [...present, ...started] }
}
