/** Types for apiVersion, kind and metadata, which all API objects have, and functions for copying objects. */
import { isObject, type Json, type JsonObject, setKey } from '../json/json.ts'

/** A reference to an owner of the object. When the owner is deleted, the object is also deleted. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** An entry of `metadata.managedFields`, which records the fields that one manager owns. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

/** Metadata that every object has, such as name, labels and owner references. */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: { [key: string]: string }
  annotations?: { [key: string]: string }
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  clusterName?: string
  managedFields?: ManagedFieldsEntry[]
}

/** The fields that every object has: apiVersion, kind and metadata. */
export interface ObjectBase {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** Any API object. The fields of a particular kind are available through its inferred type. */
export interface ApiObject extends ObjectBase {
  [field: string]: unknown
}

/** Returns an API object, or a part of an API object, with the static type of plain JSON. The value does not change. */
export function asJson(object: object): JsonObject {
  return object as JsonObject
}

/** Returns JSON with the static type of an API object. The JSON must have been decoded with a kind's schema. */
export function asObject(value: Json): ApiObject {
  if (!isObject(value)) throw new TypeError('an API object must be a JSON object')
  return value as unknown as ApiObject
}

/** Returns a copy whose top level and metadata can be modified without affecting the original. */
export function copyForChange(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata } }
}

/**
 * Returns a copy without the given fields. Usually none of the fields is present, and the function then costs no more
 * than a plain copy.
 */
export function copyWithout(metadata: ObjectMeta, ...fields: readonly (keyof ObjectMeta)[]): ObjectMeta {
  if (!fields.some((field) => Object.hasOwn(metadata, field))) return { ...metadata }
  const remainingMetadata: ObjectMeta = {}
  // Copies the members to keep instead of deleting the others, because deletion would make access to the object
  // permanently slow.
  for (const [name, value] of Object.entries(metadata))
    if (!(fields as readonly string[]).includes(name)) setKey(remainingMetadata as JsonObject, name, value)
  return remainingMetadata
}

/** Formats a time for objects: RFC 3339 in UTC, with whole seconds. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
