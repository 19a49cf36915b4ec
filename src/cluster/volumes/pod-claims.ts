/** Finds the PersistentVolumeClaims of a Pod. */
import type { Pod } from '../../api/kinds/core/pod.ts'

/** Returns the names of the claims that a Pod uses, including those created for its ephemeral volumes. */
export function claimNames({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => [
    ...(persistentVolumeClaim?.claimName === undefined ? [] : [persistentVolumeClaim.claimName]),
    ...(ephemeral === undefined ? [] : [`${metadata.name}-${name}`]),
  ])
}

/** Whether the Pod is not bound to a node yet. */
export function isUnscheduled({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') === ''
}
