/** Finds the PersistentVolumeClaims of a Pod. */
import type { Pod } from '../../api/kinds/core/pod.ts'

/** Returns the names of all claims in a Pod's volumes, including the claims of ephemeral volumes. */
export function claimNames({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => [
    ...(persistentVolumeClaim?.claimName === undefined ? [] : [persistentVolumeClaim.claimName]),
    ...(ephemeral === undefined ? [] : [`${metadata.name}-${name}`]),
  ])
}

/** Whether the Pod has no node yet. */
export function isUnscheduled({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') === ''
}
