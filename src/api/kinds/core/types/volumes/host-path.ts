/** Volume source for a path on the node. */
import { child, type FieldError, type FieldPath, invalid, notSupported } from '../../../../model/field-error.ts'
import { field, s } from '../../../../schema/schema.ts'
import { requiredText } from './fields.ts'

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

export const hostPath = s.object(
  {
    path: requiredText(1, 'Path on the node. Must not contain `..`. Symbolic links are followed.'),
    type: field(2, s.string(), {
      zeroValue: 'keep',
      default: '',
      doc: 'Type that the path must have: `Directory`, `DirectoryOrCreate`, `File`, `FileOrCreate`, `Socket`, `CharDevice` or `BlockDevice`. If empty, the type is not checked.',
    }),
  },
  {
    name: 'HostPathVolumeSource',
    doc: 'A file or directory on the node. A pod with write access to the path may be able to take control of the node.',
    check: ({ path = '', type = '' }, place) => {
      if (path === '') return []
      const typeFaults = hostPathTypes.includes(type) ? [] : [notSupported(child(place, 'type'), type, hostPathTypes)]
      return [...checkNoBacksteps(path, child(place, 'path')), ...typeFaults]
    },
  },
)

export function checkNoBacksteps(value: string, path: FieldPath): FieldError[] {
  return value.split('/').includes('..') ? [invalid(path, value, "must not contain '..'")] : []
}
