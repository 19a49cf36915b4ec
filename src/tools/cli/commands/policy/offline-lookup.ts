/**
 * Serves the objects in files to admission plugins, in place of a server's store. Namespaces that no file defines are
 * assumed to exist.
 */
import { namespace as namespaces } from '../../../../api/kinds/core/namespace.ts'
import type {
  EachQuery,
  Follower,
  ListQuery,
  Lookup,
  ObjectName,
  StoredObject,
  StoredType,
} from '../../../../api/model/lookup.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { type Vendor, vendorKey } from '../../../../api/model/vendor.ts'
import { type OfflineObject, storedTypeOf } from './offline-types.ts'

export class OfflineLookup implements Lookup {
  /** Labels that a test case gives to every namespace. */
  namespaceLabels: { readonly [key: string]: string } = {}
  readonly #vendor: Vendor
  readonly #objects: ReadonlyMap<string, readonly ApiObject[]>

  constructor(vendor: Vendor, objects: readonly OfflineObject[]) {
    this.#vendor = vendor
    const byType = Map.groupBy(objects, ({ type }) => typeKey(storedTypeOf(type)))
    this.#objects = new Map([...byType].map(([key, all]) => [key, all.map(({ object }) => object)]))
  }

  getCached<T>(type: StoredType<T>, name: ObjectName): StoredObject<T> | undefined {
    const isNamespace = typeKey(type) === typeKey(namespaces)
    const object = this.#find(type, name)
    const found = isNamespace ? this.#withLabels(object, name.name) : object
    return found && storedObject(type, found)
  }

  getLatest<T>(type: StoredType<T>, name: ObjectName): StoredObject<T> | undefined {
    return this.getCached(type, name)
  }

  waitUntilCurrent(): undefined {
    return undefined
  }

  list<T>(type: StoredType<T>, { namespace, label }: ListQuery): StoredObject<T>[] {
    return this.#all(type)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter(({ metadata }) => label === undefined || metadata.labels?.[label.key] === label.value)
      .map((object) => storedObject(type, object))
  }

  async *each<T>(type: StoredType<T>, { matches, ...query }: EachQuery): AsyncGenerator<StoredObject<T>> {
    for (const stored of this.list(type, query)) {
      const { labels = {} } = (stored.object as ApiObject).metadata
      if (matches === undefined || matches(labels)) yield stored
    }
  }

  /** Calls `reset` once, because the objects never change. */
  follow(_type: StoredType, { reset }: Follower): boolean {
    reset()
    return true
  }

  names(type: StoredType, namespace?: string): ObjectName[] {
    return this.#all(type)
      .map(nameOf)
      .filter((name) => namespace === undefined || name.namespace === namespace)
  }

  readUncached<T>(type: StoredType<T>, name: ObjectName): T | undefined {
    return this.#find(type, name) as T | undefined
  }

  readAllUncached<T>(type: StoredType<T>): [ObjectName, T][] {
    return this.#all(type).map((object) => [nameOf(object), object as T])
  }

  #all(type: TypeName): readonly ApiObject[] {
    return this.#objects.get(typeKey(type)) ?? []
  }

  #find(type: TypeName, wanted: ObjectName): ApiObject | undefined {
    return this.#all(type).find((object) => {
      const { namespace, name } = nameOf(object)
      return name === wanted.name && namespace === wanted.namespace
    })
  }

  #withLabels(object: ApiObject | undefined, name: string): ApiObject {
    const known = object ?? { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    const own = { [vendorKey(this.#vendor, 'metadata.name')]: name }
    const labels = { ...known.metadata.labels, ...own, ...this.namespaceLabels }
    return { ...known, metadata: { ...known.metadata, labels } }
  }
}

type TypeName = Pick<StoredType, 'group' | 'plural'>

function typeKey({ group, plural }: TypeName): string {
  return `${group}/${plural}`
}

function nameOf({ metadata }: ApiObject): ObjectName {
  return { namespace: metadata.namespace ?? '', name: metadata.name ?? '' }
}

function storedObject<T>(type: TypeName, object: ApiObject): StoredObject<T> {
  const { namespace, name } = nameOf(object)
  return { key: `${typeKey(type)}/${namespace}/${name}`, revision: 1, object: object as T }
}
