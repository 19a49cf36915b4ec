/**
 * From JSON to a complete object: the one way by which everything comes in that is to be stored, whether a client sent
 * it, a patch or an apply made it, a control changed it as JSON, or the server writes it itself.
 *
 * A complete object is in the normal form of its schema (known fields only, each of its type: decode.ts), names each
 * owner once, and has all its defaults: first those that the schema states, then those that its kind works out. What is
 * judged and stored is besides in the stored version, and complete there. Whether it is valid is for the rules to say;
 * whether it is of the kind that was asked for, and what to do about unknown fields, is for its caller.
 *
 * Work on a large object is done in steps, between which others have their turn: `pace.run(completeSteps(...))`.
 */

import type { JsonObject } from '../json/json.ts'
import { invalidObject } from '../model/api-error.ts'
import type { FieldPath } from '../model/field-error.ts'
import { type ApiObject, asJson, asObject, type OwnerReference } from '../model/object.ts'
import { groupName } from '../model/vendor.ts'
import { fillWithinLimits } from './bounded-defaults.ts'
import type { RuleContext } from './context.ts'
import { type DecodeOptions, decodeSteps } from './decode.ts'
import { fillDefaults } from './defaults.ts'
import type { Kind } from './kind.ts'

/** A version of a kind, as objects of it are completed. */
export interface ObjectType {
  readonly kind: Kind
  readonly apiVersion: string
  readonly context: RuleContext
}

/** A complete object, and what was wrong with what was sent. */
export interface Normalized {
  /** Fresh, and nobody else's. */
  readonly object: ApiObject
  /** Paths of the fields that the schema does not know. */
  readonly unknown: readonly FieldPath[]
  /** Whether an owner was named more than once. */
  readonly ownersRepeated: boolean
}

/** A value of a wrong type is a 400 that names the place. */
export function* normalizeSteps(
  { kind, context }: ObjectType,
  value: JsonObject,
  options: Pick<DecodeOptions, 'keepsNull'> = {},
): Generator<void, Normalized> {
  const { value: decoded, unknown } = yield* decodeSteps(kind.schema, value, {
    vendor: context.vendor,
    ...options,
  })
  yield
  const object = asObject(decoded)
  const ownersRepeated = mergeOwners(object)
  yield* fill(kind, object, context)
  yield
  kind.rules.fillDefaults?.(object, context)
  return { object, unknown, ownersRepeated }
}

/** What the schemas of users make of an object is bounded; those of built-in kinds add little to it. */
function* fill(kind: Kind, object: ApiObject, context: RuleContext): Generator<void, void> {
  if (kind.origin === 'built-in') {
    fillDefaults(kind.schema, asJson(object), { context })
    return
  }
  const fault = yield* fillWithinLimits(kind.schema, asJson(object), context)
  if (fault === undefined) return
  const group = groupName(context.vendor, kind.group)
  throw invalidObject({ group, kind: kind.kind }, object.metadata?.name ?? '', [fault])
}

/**
 * The kind's own defaults once more, when what they depend on has been set: a name that was drawn. Changes `object`.
 */
export function refillDefaults({ kind, context }: ObjectType, object: ApiObject): void {
  kind.rules.fillDefaults?.(object, context)
}

/** A client that names an owner twice means it once. Changes the object. */
function mergeOwners({ metadata }: ApiObject): boolean {
  const owners = metadata.ownerReferences
  if (owners === undefined || owners.length < 2) return false
  const unique = new Map(owners.map((owner) => [identityOf(owner), owner]))
  if (unique.size === owners.length) return false
  metadata.ownerReferences = [...unique.values()]
  return true
}

function identityOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
}

/** A version, and the one that is stored where that is another. */
export interface VersionType extends ObjectType {
  readonly stored: ObjectType | undefined
}

/** A complete object of this version as one of the stored version. `previous` is what is stored, if anything is. */
export function* storedSteps(
  version: VersionType,
  object: ApiObject,
  previous?: ApiObject,
): Generator<void, ApiObject> {
  if (version.stored === undefined) return object
  const converted = inStoredForm(version, object, previous)
  yield
  return (yield* normalizeSteps(version.stored, asJson(converted))).object
}

/** The same object, only converted: what those who merely look at it may be given. */
export function inStoredForm(version: VersionType, object: ApiObject, previous?: ApiObject): ApiObject {
  const { kind, stored, context } = version
  if (kind.conversion === undefined || stored === undefined) return object
  return { ...kind.conversion.toStored(object, context.vendor, previous), apiVersion: stored.apiVersion }
}
