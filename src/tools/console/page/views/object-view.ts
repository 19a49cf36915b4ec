/** The properties that every tab of the object page receives. */
import type { ApiObject } from '../../../../api/model/object.ts'
import type { Path } from '../core/fields.ts'
import type { Type } from '../core/kinds.ts'
import type { Schema } from '../core/schema.ts'

export interface ObjectView {
  readonly type: Type
  readonly object: ApiObject
  /** Whether the object has been deleted. If so, the page shows its last known state. */
  readonly isGone: boolean
  /** The schema of the object. Undefined until it is loaded. */
  readonly schema: Schema | undefined
  /** For a Secret, whether its values are shown. Undefined for other kinds. */
  readonly secrecy: { readonly isRevealed: boolean; readonly reveal: () => void } | undefined
}

/** Whether to hide the value of a field because the object is a Secret. */
export function isHidden({ secrecy }: Pick<ObjectView, 'secrecy'>, path: Path): boolean {
  if (secrecy === undefined || secrecy.isRevealed) return false
  const [first, second, third] = path.map((step) => ('member' in step ? step.member : ''))
  if ((first === 'data' || first === 'stringData') && path.length >= 2) return true
  // Hide this annotation too, because client-side apply stores a copy of the values in it.
  return first === 'metadata' && second === 'annotations' && (third ?? '').includes('last-applied')
}
