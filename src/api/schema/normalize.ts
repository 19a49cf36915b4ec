/**
 * Converts JSON to a complete object. All objects pass through this module before they are stored: objects in requests,
 * the results of patch and apply, JSON changes by admission plugins, and writes by the server itself.
 *
 * A complete object is in the normal form of its schema (known fields of the right types, see decode.ts), lists each
 * owner only once and has all defaults. The defaults of the schema are applied before the defaults of the kind. Objects
 * are validated and stored in the stored version, and are also complete in that version. This module does not validate
 * objects. The caller checks the kind and handles unknown fields.
 *
 * Large objects are processed in steps, so that other requests can run in between:
 * `timeSlice.run(normalizeSliced(...))`.
 */

import type { JsonObject } from '../json/json.ts'
import { invalidObject } from '../model/api-error.ts'
import type { FieldPath } from '../model/field-error.ts'
import { type ApiObject, asJson, asObject, type OwnerReference } from '../model/object.ts'
import { groupName } from '../model/vendor.ts'
import { fillWithinLimits } from './bounded-defaults.ts'
import type { RuleContext } from './context.ts'
import { type DecodeOptions, decodeSliced, type OtherVersions } from './decode.ts'
import { fillDefaults } from './defaults.ts'
import type { Kind } from './kind.ts'

/** A kind in one API version, and the context for its rules. */
export interface ObjectType {
  readonly kind: Kind
  readonly apiVersion: string
  readonly context: RuleContext
}

/** A complete object, and the problems found in its JSON. */
export interface Normalized {
  /** The complete object. It is not shared, so the caller may modify it. */
  readonly object: ApiObject
  /** Paths of the fields that were dropped because they are unknown. */
  readonly unknown: readonly FieldPath[]
  /** The other Kubernetes versions in which unknown fields exist, by the path of the field. */
  readonly otherVersions: OtherVersions | undefined
  /** Whether the input listed an owner more than once. */
  readonly ownersRepeated: boolean
}

/** Returns the complete object. A value of the wrong type causes a 400 error that contains its path. */
export function* normalizeSliced(
  { kind, context }: ObjectType,
  value: JsonObject,
  options: Pick<DecodeOptions, 'keepsNull'> = {},
): Generator<void, Normalized> {
  const {
    value: decoded,
    unknown,
    otherVersions,
  } = yield* decodeSliced(kind.schema, value, {
    vendor: context.vendor,
    ...options,
  })
  yield
  const object = asObject(decoded)
  const ownersRepeated = mergeOwners(object)
  yield* fill(kind, object, context)
  yield
  kind.rules.fillDefaults?.(object, context)
  return { object, unknown, otherVersions, ownersRepeated }
}

/**
 * Applies defaults. For user-defined schemas, the size of the defaults is limited. The defaults of built-in kinds are
 * small and need no limit.
 */
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
 * Applies the kind's defaults again after a value on which they depend, such as a generated name, has been set.
 * Modifies `object` in place.
 */
export function refillDefaults({ kind, context }: ObjectType, object: ApiObject): void {
  kind.rules.fillDefaults?.(object, context)
}

/** Merges duplicate owner references in place. Returns whether there were any duplicates. */
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

/** A kind in one API version, and its stored version if that is a different version. */
export interface VersionType extends ObjectType {
  readonly stored: ObjectType | undefined
}

/**
 * Converts a complete object of this version to a complete object of the stored version. `previous` is the stored
 * object, or undefined for a new object.
 */
export function* decodeStoredSliced(
  version: VersionType,
  object: ApiObject,
  previous?: ApiObject,
): Generator<void, ApiObject> {
  if (version.stored === undefined) return object
  const converted = inStoredForm(version, object, previous)
  yield
  return (yield* normalizeSliced(version.stored, asJson(converted))).object
}

/** Converts an object to the stored version without defaults. Intended for callers that only inspect the result. */
export function inStoredForm(version: VersionType, object: ApiObject, previous?: ApiObject): ApiObject {
  const { kind, stored, context } = version
  if (kind.conversion === undefined || stored === undefined) return object
  return { ...kind.conversion.toStored(object, context.vendor, previous), apiVersion: stored.apiVersion }
}
