/**
 * Converts the objects of a kube-apiserver into entries of this store. Values can be Protobuf or JSON in any supported
 * version. They are converted to complete objects in the storage version, and the reservations of these objects are
 * added. Metadata such as the uid and managed fields is preserved. Objects that cannot be converted are reported with a
 * reason.
 */

import { parseJson } from '../../api/codec/json.ts'
import { open } from '../../api/codec/protobuf/envelope.ts'
import { readMessage } from '../../api/codec/protobuf/read.ts'
import { encodeStored } from '../../api/codec/stored.ts'
import { isObject, type JsonObject } from '../../api/json/json.ts'
import { allKinds } from '../../api/kinds/all.ts'
import { ApiError } from '../../api/model/api-error.ts'
import { type ApiObject, asObject } from '../../api/model/object.ts'
import { apiVersionOf, groupName, type Vendor } from '../../api/model/vendor.ts'
import { type Kind, orderOf } from '../../api/schema/kind.ts'
import { decodeStoredSliced, normalizeSliced } from '../../api/schema/normalize.ts'
import { derivation } from '../../api/schema/of-version.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import { runToCompletion } from '../../base/concurrency/time-slice.ts'
import { prefixOf } from '../../storage/cache/caches.ts'
import { reservationKey } from '../../storage/cache/reservations.ts'
import type { Entry } from '../../storage/store/store.ts'
import { WireError } from '../../wire/protobuf/protobuf-wire.ts'
import { serveKind } from '../registry/catalogue/served.ts'
import { headerVersion } from '../registry/reads/other-versions.ts'
import { definitionInV1 } from './kube-definition.ts'

/** An entry in the etcd of the kube-apiserver to migrate from. */
export interface ForeignEntry {
  readonly key: string
  readonly modRevision: number
  readonly value: Uint8Array
}

export type Converted =
  | { readonly outcome: 'entries'; readonly entries: readonly Entry[] }
  /** `why` is the reason for not migrating the entry. It starts with the object's type if that is known. */
  | { readonly outcome: 'left'; readonly why: string }

/** The group and plural of a custom resource on the other server. */
export interface Defined {
  readonly group: string
  readonly plural: string
}

const definitionKind = 'CustomResourceDefinition'
const protobuf = Buffer.from('k8s\0')
const encrypted = 'k8s:enc:'

/** The profile and the Kubernetes version of the new store. */
export interface MigrationTarget {
  readonly vendor: Vendor
  readonly version: EmulatedVersion
}

/** Thrown if an object cannot be converted. The message is the reason. */
class Unconvertible extends Error {}

export class KubeObjects {
  readonly #vendor: Vendor
  readonly #version: EmulatedVersion
  readonly #byType = new Map<string, Kind>()
  /** Custom resources of the other server, by the prefix of their storage keys, such as `shop.example.com/carts`. */
  readonly #defined: ReadonlyMap<string, Defined>

  /**
   * Creates a converter. It supports the API versions of all Kubernetes versions, because upgrading a server does not
   * rewrite the objects in its store.
   */
  constructor({ vendor, version }: MigrationTarget, defined: readonly Defined[]) {
    this.#vendor = vendor
    this.#version = version
    this.#defined = new Map(defined.map((each) => [`${each.group}/${each.plural}`, each]))
    const derived = derivation(version)
    for (const kind of allKinds)
      if (!kind.lifecycle.virtual)
        this.#byType.set(`${apiVersionOf(vendor, kind.group, kind.version)} ${kind.kind}`, derived.kind(kind))
  }

  /**
   * Converts a stored object. `place`, such as `pods/default/web`, is the object's key without the prefix of the other
   * server.
   */
  convert(place: string, { modRevision, value }: ForeignEntry): Converted {
    try {
      const document = this.#read(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      return { outcome: 'entries', entries: this.#entriesOf(place, document, modRevision) }
    } catch (error) {
      if (!(error instanceof Unconvertible || error instanceof WireError || error instanceof ApiError)) throw error
      return { outcome: 'left', why: error.message }
    }
  }

  #read(bytes: Buffer): JsonObject {
    if (bytes.subarray(0, encrypted.length).toString('latin1') === encrypted)
      throw new Unconvertible('it is encrypted: first configure that server to store it in plain text')
    if (!bytes.subarray(0, protobuf.length).equals(protobuf)) return this.#readJson(bytes)
    const { apiVersion, kind: name, message } = open(bytes)
    const kind = this.#byType.get(`${apiVersion} ${name}`)
    if (kind === undefined) throw new Unconvertible(`${name} in ${apiVersion} is not supported`)
    return Object.assign(readMessage(kind.schema, message, this.#vendor), { apiVersion, kind: name })
  }

  #readJson(bytes: Buffer): JsonObject {
    const document = readJson(bytes)
    const isOlder = document.apiVersion === this.#apiVersionOf('v1beta1') && document.kind === definitionKind
    return isOlder ? definitionInV1(document, this.#apiVersionOf('v1')) : document
  }

  /** Returns the apiVersion of CustomResourceDefinitions in the given Kubernetes version. */
  #apiVersionOf(version: string): string {
    return apiVersionOf(this.#vendor, 'apiextensions', version)
  }

  #entriesOf(place: string, document: JsonObject, revision: number): Entry[] {
    const kind = this.#byType.get(`${String(document.apiVersion)} ${String(document.kind)}`)
    return kind === undefined
      ? [this.#customEntry(place, asObject(document), revision)]
      : this.#builtInEntries(kind, document, revision)
  }

  #builtInEntries(kind: Kind, document: JsonObject, revision: number): Entry[] {
    const served = (each: Kind) => serveKind(each, { vendor: this.#vendor, version: this.#version }, [])
    const stored = kind.conversion?.stored ?? kind
    const version = { ...served(kind), stored: stored === kind ? undefined : served(stored) }
    const { object: complete } = runToCompletion(normalizeSliced(version, document))
    const object = runToCompletion(decodeStoredSliced(version, complete))
    const key = keyOf(stored.group, stored.plural, object)
    const header = {
      labels: object.metadata.labels,
      fields: stored.views.selectable?.(object),
      version: headerVersion(this.#version),
    }
    const value = encodeStored(key, { object, order: orderOf(stored), header })
    const held = stored.reservations?.reservationsOf(object) ?? []
    const reservations = held.map((reservation) => ({
      key: reservationKey(reservation.pool, reservation.value),
      revision,
      value: Buffer.from(key),
    }))
    return [...reservations, { key, revision, value }]
  }

  /** Converts a custom object. The object keeps its stored version, which the migrated definition still lists. */
  #customEntry(place: string, object: ApiObject, revision: number): Entry {
    const [group = '', plural = ''] = place.split('/', 2)
    const defined = this.#defined.get(`${group}/${plural}`)
    if (defined === undefined || !object.apiVersion.startsWith(`${group}/`))
      throw new Unconvertible(`${String(object.kind)} in ${String(object.apiVersion)} is not supported`)
    // The internal ID of a custom group is its name with a dot appended.
    const key = keyOf(`${group}.`, plural, object)
    const header = { labels: object.metadata.labels, fields: {} }
    return { key, revision, value: encodeStored(key, { object, order: undefined, header }) }
  }
}

/** Key prefix under which the other server stores CustomResourceDefinitions. */
export function definitionsPlace(vendor: Vendor): string {
  return `${groupName(vendor, 'apiextensions')}/customresourcedefinitions/`
}

/** Returns the resource that a stored CustomResourceDefinition defines. Returns undefined if it cannot be read. */
export function definedBy({ value }: ForeignEntry): Defined | undefined {
  const { spec } = readIfJson(Buffer.from(value))
  const names = isObject(spec) ? spec.names : undefined
  if (!isObject(spec) || !isObject(names)) return undefined
  const { group } = spec
  const { plural } = names
  return typeof group === 'string' && typeof plural === 'string' ? { group, plural } : undefined
}

function readIfJson(bytes: Buffer): JsonObject {
  try {
    return readJson(bytes)
  } catch {
    // Ignore an unreadable definition, because converting it reports the error.
    return {}
  }
}

function readJson(bytes: Buffer): JsonObject {
  const { value } = parseJson(bytes)
  if (!isObject(value) || !isObject(value.metadata)) throw new Unconvertible('the value is not an API object')
  return value
}

function keyOf(group: string, plural: string, { metadata }: ApiObject): string {
  const { name, namespace = '', uid, creationTimestamp } = metadata
  if (name === undefined || uid === undefined || creationTimestamp === undefined)
    throw new Unconvertible('its name, UID or creationTimestamp is missing')
  return `${prefixOf(group, plural)}${namespace === '' ? '' : `${namespace}/`}${name}`
}
