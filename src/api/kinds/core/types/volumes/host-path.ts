/** A path on the node itself as the content of a volume. */
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
    path: requiredText(1, 'The path on the node. Links are followed.'),
    type: field(2, s.string(), {
      zero: 'keep',
      default: '',
      doc: 'What must be there: Directory, File, Socket, CharDevice or BlockDevice; with OrCreate it is made. Empty: anything.',
    }),
  },
  {
    name: 'HostPathVolumeSource',
    doc: 'A file or directory of the node. A pod that can write to it may control the node.',
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
