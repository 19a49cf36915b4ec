/** Pods must not use volume types that access the host or a storage system directly. */
import type { Volume } from '../../../../api/kinds/core/types/volume.ts'
import { type Check, distinct, nameList, quotedList } from '../check.ts'

const allowed = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

export const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  rules: [
    {
      since: 0,
      rule: ({ spec: { volumes = [] } }) => {
        const bad = volumes.filter((volume) => !allowed.has(sourceOf(volume)))
        if (bad.length === 0) return undefined
        const names = bad.map(({ name = '' }) => name)
        const types = distinct(bad.map(sourceOf))
        const verb = names.length === 1 ? 'uses' : 'use'
        const noun = `restricted volume type${types.length === 1 ? '' : 's'}`
        return {
          reason: 'restricted volume types',
          detail: `${nameList('volume', names)} ${verb} ${noun} ${quotedList(types)}`,
        }
      },
    },
  ],
}

/** Returns the type of the volume source, which is the volume's only field besides its name. */
function sourceOf(volume: Volume): string {
  return Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'
}
