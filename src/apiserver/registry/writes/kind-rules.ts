/**
 * Runs the rules of a kind on an object: preparation, allocation and validation. These functions need no server, so the
 * write path and the kinds' unit tests can share them.
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

/** An object to validate, with its kind and the state that it replaces. */
export interface ObjectToValidate {
  readonly kind: Kind
  readonly object: ApiObject
  /** The stored object. Undefined for a create. */
  readonly previous: ApiObject | undefined
}

/**
 * Prepares an object for storage, in place. Fields that clients cannot set keep their previous value or receive a value
 * from the server.
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

/** Returns whether the write may allocate values from pools. A write to a subresource may not. */
export function mayAllocate(
  { kind: { reservations } }: Pick<ObjectToValidate, 'kind'>,
  { subresource }: RuleContext,
): boolean {
  return reservations !== undefined && (subresource === '' || !('allocate' in reservations))
}

/**
 * Returns validation errors, or a generator if the validation can take a long time. `isSound` is true if earlier
 * validations found no errors.
 */
type Validation = (isSound: boolean) => Faults | Sliced<Faults> | undefined
type Faults = readonly FieldError[]

/** Returns the validations in order, so that the caller can yield between them. */
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
