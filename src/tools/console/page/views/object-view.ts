/** Properties of every tab of an object. */
import type { ApiObject } from '../../../../api/model/object.ts'
import type { Path } from '../core/fields.ts'
import type { Type } from '../core/kinds.ts'
import type { Schema } from '../core/schema.ts'

export interface ObjectView {
  readonly type: Type
  readonly object: ApiObject
  /** Whether the object has been deleted. This is then its last state. */
  readonly isGone: boolean
  /** Undefined until it is loaded. */
  readonly schema: Schema | undefined
  /** For a Secret: whether its values are shown. */
  readonly secrecy: { readonly isRevealed: boolean; readonly reveal: () => void } | undefined
}

/** Whether a field of this object is still hidden. */
export function isHidden({ secrecy }: Pick<ObjectView, 'secrecy'>, path: Path): boolean {
  if (secrecy === undefined || secrecy.isRevealed) return false
  const [first, second, third] = path.map((step) => ('member' in step ? step.member : ''))
  if ((first === 'data' || first === 'stringData') && path.length >= 2) return true
  // Clients that apply store a copy of the applied configuration.
  return first === 'metadata' && second === 'annotations' && (third ?? '').includes('last-applied')
}
