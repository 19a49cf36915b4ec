/**
 * The rules of a kind as a write meets them, without a server around them: what prepares an object for the store, whether
 * it is given values of its own, and what judges it. `write-steps.ts` runs them; so do the tests of kinds.
 */

import { isLarge } from '../../../api/json/large-json.ts'
import type { FieldError } from '../../../api/model/field-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import type { PrepareContext, RuleContext } from '../../../api/schema/context.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import { validate, validateSteps } from '../../../api/schema/validate.ts'
import type { Steps } from '../../../base/concurrency/time-slice.ts'
import { validateMetadata, validateMetadataUpdate } from './metadata.ts'

/** An object that is judged by the rules of its kind. */
export interface Judged {
  readonly kind: Kind
  readonly object: ApiObject
  /** The stored object; undefined where the object is created. */
  readonly previous: ApiObject | undefined
}

/** Changes the object into what is stored: what a client may not set is as it was, or as the server decides. */
export function prepareByRules({ kind, object, previous }: Judged, context: PrepareContext): void {
  if (previous === undefined) {
    kind.rules.prepareForCreate?.(object, context)
    return
  }
  const { subresource } = context
  const rules = subresource === '' ? kind.rules : kind.views.subresources?.[subresource]
  rules?.prepareForUpdate?.(object, previous, context)
}

/** Whether the write may give the object values that no other may hold. Those that are drawn no sub-resource changes. */
export function mayAllocate({ kind: { reservations } }: Pick<Judged, 'kind'>, { subresource }: RuleContext): boolean {
  return reservations !== undefined && (subresource === '' || !('allocate' in reservations))
}

/** Returns the faults that it finds, in steps where that takes long; `isSound` is whether those before it found none. */
type Validation = (isSound: boolean) => Faults | Steps<Faults> | undefined
type Faults = readonly FieldError[]

/** They are run in this order, and others may have a turn in between. */
export function validations({ kind, object, previous }: Judged, context: RuleContext): Validation[] {
  const isLast = previous === undefined && kind.rules.metadataLast?.(context) === true
  const metadata = () => validateMetadata(kind, object.metadata, context.vendor)
  return [
    () => (isLast ? undefined : metadata()),
    () => previous && validateMetadataUpdate(object.metadata, previous.metadata),
    () => (isLarge(asJson(object)) ? validateSteps : validate)(kind.schema, asJson(object), context),
    () => kind.rules.validate?.(object, context),
    () =>
      previous === undefined
        ? kind.rules.validateCreate?.(object, context)
        : kind.rules.validateUpdate?.(object, previous, context),
    (isSound) => (isLast && isSound ? metadata() : undefined),
  ]
}
