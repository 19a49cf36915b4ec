/**
 * Runs the rules of a kind on an object without a server: preparation, allocation and validation. Used by
 * `write-steps.ts` and by the tests of kinds.
 */

import { isLarge } from '../../../api/json/large-json.ts'
import type { FieldError } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { isEnabled, type PrepareContext, type RuleContext } from '../../../api/schema/context.ts'
import { dropGatedFields } from '../../../api/schema/gated-fields.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { validate, validateSliced } from '../../../api/schema/validate.ts'
import type { Sliced } from '../../../base/concurrency/time-slice.ts'
import { validateMetadata, validateMetadataUpdate } from './metadata.ts'

/** An object to which the rules of its kind are applied. */
export interface ObjectToValidate {
  readonly kind: Kind
  readonly object: ApiObject
  /** The stored object. Undefined for a create. */
  readonly previous: ApiObject | undefined
}

/**
 * Prepares the object for storage, in place. Fields that clients may not set keep their value, or the server sets them.
 */
export function prepareByRules({ kind, object, previous }: ObjectToValidate, context: PrepareContext): void {
  if (kind.origin === 'built-in')
    dropGatedFields(kind.schema, { object: asJson(object), previous: previous && asJson(previous) }, context)
  if (previous === undefined) {
    kind.rules.prepareForCreate?.(object, context)
    return
  }
  const { subresource } = context
  const rules = subresource === '' ? kind.rules : kind.views.subresources?.[subresource]
  rules?.prepareForUpdate?.(object, previous, context)
}

/** Whether the write may allocate values. Subresources cannot change values drawn from a pool. */
export function mayAllocate(
  { kind: { reservations } }: Pick<ObjectToValidate, 'kind'>,
  { subresource }: RuleContext,
): boolean {
  return reservations !== undefined && (subresource === '' || !('allocate' in reservations))
}

/** Returns errors. Works in steps if it can take long. `isSound` is true if the earlier validations found no errors. */
type Validation = (isSound: boolean) => Faults | Sliced<Faults> | undefined
type Faults = readonly FieldError[]

/** Returns the validations in order. The caller may yield between them. */
export function validations({ kind, object, previous }: ObjectToValidate, context: RuleContext): Validation[] {
  const isLast = previous === undefined && kind.rules.metadataLast?.(context) === true
  const isForgiving = kind.origin === 'custom' && isEnabled('CRDValidationRatcheting', context)
  const unchanged = isForgiving && previous !== undefined ? asJson(previous) : undefined
  const metadata = () => validateMetadata(kind, object.metadata, context)
  return [
    () => (isLast ? undefined : metadata()),
    () => previous && validateMetadataUpdate(object.metadata, previous.metadata),
    () =>
      (isLarge(asJson(object)) ? validateSliced : validate)(kind.schema, asJson(object), {
        ...context,
        previous: unchanged,
      }),
    () => kind.rules.validate?.(object, context),
    () =>
      previous === undefined
        ? kind.rules.validateCreate?.(object, context)
        : kind.rules.validateUpdate?.(object, previous, context),
    (isSound) => (isLast && isSound ? metadata() : undefined),
  ]
}
