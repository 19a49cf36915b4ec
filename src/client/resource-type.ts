/** What a client asks for: a resource type as it stands in paths, and a place in it. */
import type { ApiObject } from '../model/object.ts'

/** A type as it is addressed in URLs. */
export interface ResourceType<T extends ApiObject = ApiObject> {
  /** As on the wire; '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly namespaced: boolean
  /** For the compiler alone: what the objects of this type are. Never set. */
  readonly objects?: T
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

/** `configmaps`, `leases.coordination.orch.io`. */
export function typeName({ group, plural }: ResourceType): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** Where all objects of a type are, or those of a namespace. */
export function collectionPath(type: ResourceType, namespace: string | undefined): string {
  const prefix = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`
  if (!type.namespaced || namespace === undefined) return `${prefix}/${type.plural}`
  return `${prefix}/namespaces/${segment(namespace)}/${type.plural}`
}

/** Where one object or its sub-resource is. Throws TypeError where a name is missing or cannot be part of a path. */
export function objectPath(type: ResourceType, { namespace, name }: ObjectName, subresource = ''): string {
  if (type.namespaced && namespace === undefined)
    throw new TypeError(`${typeName(type)} "${name}" is in a namespace: which one was not said`)
  const path = `${collectionPath(type, namespace)}/${segment(name)}`
  return subresource === '' ? path : `${path}/${subresource}`
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
export function objectKey({ metadata: { namespace, name = '' } }: ApiObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

/** The object that a key names. */
export function nameOfKey(key: string): ObjectName {
  const slash = key.indexOf('/')
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
