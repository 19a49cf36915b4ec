/** Fields that many sources of volumes have, and the forms they share. */
import { type FieldError, type FieldPath, invalid } from '../../../../model/field-error.ts'
import { field, type Schema, s } from '../../../../schema/schema.ts'

export const text = (tag: number, doc: string) => field(tag, s.string(), { doc })
export const requiredText = (tag: number, doc: string) => field(tag, s.string(), { required: true, doc })
export const flag = (tag: number, doc: string) => field(tag, s.boolean(), { doc })

export const fsType = (tag: number) =>
  text(tag, 'The file system on it, such as ext4 or xfs. The node chooses if unset.')
export const readOnly = (tag: number) => flag(tag, 'Whether it can only be read.')
export const secretRef = <S extends Schema>(tag: number, reference: S) =>
  field(tag, reference, { doc: 'The Secret to identify with.' })

export function checkByte(value: number, path: FieldPath): FieldError[] {
  return value >= 0 && value <= 255 ? [] : [invalid(path, value, 'must be between 0 and 255, inclusive')]
}
