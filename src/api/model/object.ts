/** What every API object has: its type, and the metadata common to all kinds. */
import { isObject, type Json, type JsonObject, setKey } from '../json/json.ts'

/** An object that owns this one: when the owner is deleted, so is this one. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** The fields that one manager owns. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

/** The metadata of an object. */
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

/** The fields that every API object has: what a type of objects must have at least. */
export interface ObjectBase {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** Any API object. A kind's own fields are read through its inferred type. */
export interface ApiObject extends ObjectBase {
  [field: string]: unknown
}

/** An API object, or a part of one, seen as plain JSON. It is the same value; only its static type changes. */
export function asJson(object: object): JsonObject {
  return object as JsonObject
}

/** JSON that has been decoded against a kind's schema, seen as an API object. */
export function asObject(value: Json): ApiObject {
  if (!isObject(value)) throw new TypeError('an API object is a JSON object')
  return value as unknown as ApiObject
}

/** A copy that can be changed at the top level and in its metadata without touching the original. */
export function copyForChange(object: ApiObject): ApiObject {
  return { ...object, metadata: { ...object.metadata } }
}

/** A copy without these fields, most of which are not there most of the time: then it costs no more than a copy. */
export function copyWithout(metadata: ObjectMeta, ...fields: readonly (keyof ObjectMeta)[]): ObjectMeta {
  if (!fields.some((field) => Object.hasOwn(metadata, field))) return { ...metadata }
  const left: ObjectMeta = {}
  // What members were deleted from is slow to read and to write ever after.
  for (const [name, value] of Object.entries(metadata))
    if (!(fields as readonly string[]).includes(name)) setKey(left as JsonObject, name, value)
  return left
}

/** A moment in the form that objects carry: RFC 3339 in UTC, whole seconds. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}
