/**
 * A cached object consists of the bytes that a GET returns and the few fields that list and watch selectors use. It is
 * created once per change, and all readers share it. Its content never changes, but its bytes can be moved to another
 * buffer. Because the caches contain every object of the cluster, a cached object does not store fields that its key
 * already contains.
 */
import {
  type Allocate,
  type Header,
  type HeaderReader,
  replaceVersion,
  type Selectable,
  storedJson,
  type VersionedJson,
} from '../../api/codec/stored.ts'
import { formatVersion } from '../../api/model/resource-version.ts'
import type { StoredJson } from '../../api/schema/kind.ts'
import type { Joinable } from './joined-objects.ts'

/** A cached object: its bytes and the fields that selectors use. */
export class CachedObject implements VersionedJson, StoredJson, Joinable {
  readonly key: string
  readonly revision: number
  readonly #header: Header
  json: Buffer
  readonly versionAt: number
  /**
   * Length of the JSON prefix with `kind` and `apiVersion`, which lists omit. Computed when a list first contains the
   * object, and 0 until then.
   */
  typeLength = 0
  joined: Joinable['joined'] = undefined
  /** Offset of the namespace in the key. For cluster-scoped objects, the offset of the name. */
  readonly #placeAt: number

  constructor(key: string, placeAt: number, revision: number, header: Header, { json, versionAt }: VersionedJson) {
    this.key = key
    this.#placeAt = placeAt
    this.revision = revision
    this.#header = header
    this.json = json
    this.versionAt = versionAt
  }

  get selectable(): Selectable {
    return this.#header
  }

  get completeFor(): string | undefined {
    return this.#header.completeFor
  }

  /** The namespace of the object, or '' for cluster-scoped kinds. */
  get namespace(): string {
    const slash = this.key.indexOf('/', this.#placeAt)
    return slash < 0 ? '' : this.key.slice(this.#placeAt, slash)
  }

  get name(): string {
    return this.key.slice(this.key.lastIndexOf('/') + 1)
  }

  /** Replaces the object's bytes with an identical copy in memory that the workers share. */
  shareBytes(bytes: Buffer): void {
    if (bytes.equals(this.json)) this.json = bytes
  }

  /**
   * Copies the object's bytes out of the shared block, so that the object does not keep the whole block in memory after
   * it has been replaced.
   */
  leaveBlock(): void {
    if (!(this.json.buffer instanceof SharedArrayBuffer)) return
    const own = Buffer.allocUnsafeSlow(this.json.length)
    this.json.copy(own)
    this.json = own
  }

  /** Returns the object for a DELETED event: the object's last state, with the resourceVersion of the deletion. */
  withRevision(revision: number): CachedObject {
    const json = replaceVersion(this, formatVersion(this.revision), formatVersion(revision))
    return new CachedObject(this.key, this.#placeAt, revision, this.#header, { json, versionAt: this.versionAt })
  }
}

/** Decodes the objects that are stored under one key prefix. */
export interface ObjectReader {
  readonly prefix: string
  readonly headers: HeaderReader
  readonly allocate: Allocate
  /**
   * Converts objects that servers of other Kubernetes versions have written. Undefined if every version stores the kind
   * in the same form.
   */
  readonly otherVersions: OtherVersionReader | undefined
}

/** Converts stored objects that a server of another Kubernetes version has written. */
export interface OtherVersionReader {
  /** The Kubernetes version of this server, as recorded in the headers of the objects that it writes. */
  readonly version: string | undefined
  /**
   * Converts a stored value to the form that this server would have written. Returns the value unchanged if the kind is
   * the same in both versions. Throws UnreadableValue.
   */
  readonly convert: (key: string, value: Uint8Array, version: string | undefined) => Uint8Array
  /**
   * Decodes the headers of converted objects. Converted objects have their own reader because a reader caches only the
   * last header that it decoded.
   */
  readonly headers: HeaderReader
}

/**
 * Decodes one stored object. `key` is `<prefix><namespace>/<name>`, or `<prefix><name>` for cluster-scoped kinds.
 * Throws UnreadableValue.
 */
export function readStored(
  { prefix, headers, allocate, otherVersions }: ObjectReader,
  key: string,
  revision: number,
  value: Uint8Array,
): CachedObject {
  let header = headers.read(key, value)
  let convertedValue = value
  if (otherVersions !== undefined && header.version !== otherVersions.version) {
    convertedValue = otherVersions.convert(key, value, header.version)
    if (convertedValue !== value) header = otherVersions.headers.read(key, convertedValue)
  }
  const json = storedJson(convertedValue, formatVersion(revision), allocate)
  return new CachedObject(key, prefix.length, revision, header, json)
}
