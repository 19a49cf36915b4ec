/** Fields and checks shared by multiple volume sources. */
import { type FieldError, type FieldPath, invalid } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'

export const text = (tag: number, doc: string) => field(tag, s.string(), { doc })
export const requiredText = (tag: number, doc: string) => field(tag, s.string(), { required: true, doc })
export const flag = (tag: number, doc: string) => field(tag, s.boolean(), { doc })

export const fsType = (tag: number) =>
  text(tag, 'File system type of the volume, such as `ext4` or `xfs`. If unset, the node chooses the type.')
export const readOnly = (tag: number) => flag(tag, 'Whether the volume is mounted read-only. Defaults to false.')
export const secretRef = <S extends Schema>(tag: number, reference: S) =>
  field(tag, reference, { doc: 'Secret that contains the credentials for the storage system.' })

export function checkByte(value: number, path: FieldPath): FieldError[] {
  return value >= 0 && value <= 255 ? [] : [invalid(path, value, 'must be between 0 and 255, inclusive')]
}
