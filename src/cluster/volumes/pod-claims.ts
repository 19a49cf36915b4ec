/** Which claims a Pod uses. */
import type { Pod } from '../../api/kinds/core/pod.ts'

/** The names of the claims that a Pod uses; those for its ephemeral volumes are made for it. */
export function claimNames({ metadata, spec }: Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => [
    ...(persistentVolumeClaim?.claimName === undefined ? [] : [persistentVolumeClaim.claimName]),
    ...(ephemeral === undefined ? [] : [`${metadata.name}-${name}`]),
  ])
}

/** Whether no node has been found for it yet. */
export function isUnscheduled({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') === ''
}
