/** Resource types, object names and their URL paths. */
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'

/** A resource type as it appears in URLs. */
export interface ResourceType<T extends ObjectBase = ApiObject> {
  /** API group, or '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
  /** The kind of the objects. The client adds the kind to objects that do not specify it. */
  readonly kind?: string
  /**
   * Whether the server's domain is appended to `group`: `coordination` becomes `coordination.orch.io` on some servers.
   */
  readonly inServerDomain?: boolean
  /** Subresource with its own kind, such as `scale`. */
  readonly subresource?: string
  /** Carries the type of the objects for the compiler. Never set. */
  readonly objects?: T
}

/** An object to write. Its apiVersion and kind may be omitted if the resource type specifies them. */
export type Draft<T> = { apiVersion?: string; kind?: string } & {
  [K in keyof T as K extends 'apiVersion' | 'kind' ? never : K]: T[K]
}

/** Name and namespace of an object. */
export interface ObjectName {
  /** The namespace. Undefined for cluster-scoped types. */
  readonly namespace?: string
  readonly name: string
}

/** Selects objects of a collection. */
export interface Selection {
  /** The namespace to select from. Undefined selects from all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** A resource type, regardless of the type of its objects. */
type AnyType = Omit<ResourceType, 'objects'>

/** Returns the full name of a resource type, such as `configmaps` or `leases.coordination.orch.io`. */
export function typeName({ group, plural }: AnyType): string {
  return group === '' ? plural : `${plural}.${group}`
}

/**
 * Returns the type with the name of its API group for the given vendor. Intended for callers that know the server's
 * vendor.
 */
export function inDomainOf<T extends ObjectBase>(
  { groupDomain }: Pick<Vendor, 'groupDomain'>,
  { inServerDomain, ...type }: ResourceType<T>,
): ResourceType<T> {
  return inServerDomain ? { ...type, group: `${type.group}.${groupDomain}` } : type
}

/** Returns the type of a subresource with its own kind, as in `subresource<Scale>(Deployment, 'scale')`. */
export function subresource<T extends ObjectBase>(
  { group, version, plural, namespaced, inServerDomain }: AnyType,
  name: string,
): ResourceType<T> {
  const domain = inServerDomain === undefined ? {} : { inServerDomain }
  return { group, version, plural, namespaced, ...domain, subresource: name }
}

/** Adds apiVersion and kind to the object if the resource type contains them and the object omits them. */
export function typed<T extends ObjectBase>(
  { group, version, kind, subresource }: ResourceType<T>,
  draft: Draft<T>,
): T {
  // Do not add the kind if the body is for a subresource, because such a body may be of another kind and group.
  if (kind === undefined || subresource !== undefined) return draft as unknown as T
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...draft } as unknown as T
}

/** Returns the path of all objects of a type, or of all objects in a namespace. */
export function collectionPath(type: AnyType, namespace: string | undefined): string {
  const prefix = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  if (!type.namespaced || namespace === undefined) return `${prefix}/${type.plural}`
  return `${prefix}/namespaces/${segment(namespace)}/${type.plural}`
}

/**
 * Returns the path of an object or of its subresource. Throws TypeError if a name is missing or not allowed in a path.
 */
export function objectPath(
  type: AnyType,
  { namespace, name }: ObjectName,
  subresource = type.subresource ?? '',
): string {
  const path = `${creationPath(type, { namespace, name })}/${segment(name)}`
  return subresource === '' ? path : `${path}/${subresource}`
}

/**
 * Returns the path for creating an object. Throws TypeError if the namespace is missing. The object may omit its name,
 * because the server can generate a name.
 */
export function creationPath(
  type: AnyType,
  { namespace, name = '' }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
): string {
  if (type.namespaced && namespace === undefined)
    throw new TypeError(`${typeName(type)} "${name}" is namespaced: specify a namespace`)
  return collectionPath(type, namespace)
}

/** The error for a name that is not allowed in a path. */
export class NameError extends TypeError {
  override readonly name = 'NameError'
}

/**
 * Returns a path segment. Throws an error for an empty name, which would change the path of an object into the path of
 * its collection.
 */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new NameError(`${JSON.stringify(text)} is not a valid name`)
  return encodeURIComponent(text)
}

/**
 * Returns the key of an object in informers and queues: `namespace/name`, or the name alone for cluster-scoped objects.
 */
export function objectKey({ metadata: { namespace, name = '' } }: ObjectBase): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** Splits a key into namespace and name. */
export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** Returns the namespace and name of an object. */
export function nameOf({ metadata }: ObjectBase): ObjectName {
  const { namespace, name = '' } = metadata
  return namespace === undefined ? { name } : { namespace, name }
}
