/** What a client asks for: a resource type as it stands in paths, and a place in it. */
import type { ApiObject, ObjectBase } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'

/** A type as it is addressed in URLs. */
export interface ResourceType<T extends ObjectBase = ApiObject> {
  /** As on the wire; '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
  /** Filled into objects that are written without it. */
  readonly kind?: string
  /** Whether the server's domain comes after `group`: `coordination` is `coordination.orch.io` on some servers. */
  readonly inServerDomain?: boolean
  /** Of a part of an object that is of a kind of its own: `scale`. */
  readonly subresource?: string
  /** For the compiler alone: what the objects of this type are. Never set. */
  readonly objects?: T
}

/** An object to be written: its apiVersion and kind are filled in where the type knows them. */
export type Draft<T> = { apiVersion?: string; kind?: string } & {
  [K in keyof T as K extends 'apiVersion' | 'kind' ? never : K]: T[K]
}

/** Which object; the namespace is '' for kinds without. */
export interface ObjectName {
  /** Left out for types without namespaces. */
  readonly namespace?: string
  readonly name: string
}

/** A part of a collection. */
export interface Selection {
  /** Left out: all namespaces. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

/** What paths are made of. */
type AnyType = Omit<ResourceType, 'objects'>

/** `configmaps`, `leases.coordination.orch.io`. */
export function typeName({ group, plural }: AnyType): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** The type with the name that its group has in this vendor's domain: for callers that know the server's vendor. */
export function inDomainOf<T extends ObjectBase>(
  { groupDomain }: Pick<Vendor, 'groupDomain'>,
  { inServerDomain, ...type }: ResourceType<T>,
): ResourceType<T> {
  return inServerDomain ? { ...type, group: `${type.group}.${groupDomain}` } : type
}

/** A sub-resource that is of a kind of its own, as a type: `subresource<Scale>(Deployment, 'scale')`. */
export function subresource<T extends ObjectBase>(
  { group, version, plural, namespaced, inServerDomain }: AnyType,
  name: string,
): ResourceType<T> {
  const domain = inServerDomain === undefined ? {} : { inServerDomain }
  return { group, version, plural, namespaced, ...domain, subresource: name }
}

/** The object with its apiVersion and kind, where the type knows them and it does not say so itself. */
export function typed<T extends ObjectBase>(
  { group, version, kind, subresource }: ResourceType<T>,
  draft: Draft<T>,
): T {
  // What a sub-resource is called is not of the group that it stands in.
  if (kind === undefined || subresource !== undefined) return draft as unknown as T
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...draft } as unknown as T
}

/** Where all objects of a type are, or those of a namespace. */
export function collectionPath(type: AnyType, namespace: string | undefined): string {
  const prefix = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  if (!type.namespaced || namespace === undefined) return `${prefix}/${type.plural}`
  return `${prefix}/namespaces/${segment(namespace)}/${type.plural}`
}

/** Where one object or its sub-resource is. Throws TypeError where a name is missing or cannot be part of a path. */
export function objectPath(
  type: AnyType,
  { namespace, name }: ObjectName,
  subresource = type.subresource ?? '',
): string {
  const path = `${creationPath(type, { namespace, name })}/${segment(name)}`
  return subresource === '' ? path : `${path}/${subresource}`
}

/** Where an object is created. Throws TypeError where its namespace is missing; the server may be left to make a name. */
export function creationPath(
  type: AnyType,
  { namespace, name = '' }: { readonly namespace?: string | undefined; readonly name?: string | undefined },
): string {
  if (type.namespaced && namespace === undefined)
    throw new TypeError(`${typeName(type)} "${name}" is in a namespace: which one was not said`)
  return collectionPath(type, namespace)
}

/** What cannot be part of a path. */
export class NameError extends TypeError {
  override readonly name = 'NameError'
}

/** An empty name would turn the path of an object into that of its collection. */
function segment(text: string): string {
  if (text === '' || text === '.' || text === '..') throw new NameError(`${JSON.stringify(text)} is not a name`)
  return encodeURIComponent(text)
}

/** How informers and queues name an object: `namespace/name`, or the name alone. */
export function objectKey({ metadata: { namespace, name = '' } }: ObjectBase): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The object that a key names. */
export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The name of an object that is there. */
export function nameOf({ metadata }: ObjectBase): ObjectName {
  const { namespace, name = '' } = metadata
  return namespace === undefined ? { name } : { namespace, name }
}
