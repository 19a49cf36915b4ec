/**
 * An object as the cache holds it: the bytes that a GET sends, and the little that lists and watches select by.
 * Made once per change and shared by every reader. What it says never changes; its bytes may move to another place in
 * memory. There are as many as the cluster has objects, so what the key says is not stored again.
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

/** One object as it is kept: its bytes, and what selectors ask for. */
export class CachedObject implements VersionedJson, StoredJson {
  readonly key: string
  readonly revision: number
  readonly #header: Header
  json: Buffer
  readonly versionAt: number
  /** Where in the key the namespace starts, or the name of an object without one. */
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

  /** '' for kinds without namespaces. */
  get namespace(): string {
    const slash = this.key.indexOf('/', this.#placeAt)
    return slash < 0 ? '' : this.key.slice(this.#placeAt, slash)
  }

  get name(): string {
    return this.key.slice(this.key.lastIndexOf('/') + 1)
  }

  /** Lets go of its bytes for these, in memory that workers share, if they are the same. */
  shareBytes(bytes: Buffer): void {
    if (bytes.equals(this.json)) this.json = bytes
  }

  /** Takes its bytes out of memory that workers share: what is no longer current would keep its neighbours there. */
  leaveBlock(): void {
    if (!(this.json.buffer instanceof SharedArrayBuffer)) return
    const own = Buffer.allocUnsafeSlow(this.json.length)
    this.json.copy(own)
    this.json = own
  }

  /** The object as a DELETED event shows it: its last state, with the version of its deletion. */
  withRevision(revision: number): CachedObject {
    const json = replaceVersion(this, formatVersion(this.revision), formatVersion(revision))
    return new CachedObject(this.key, this.#placeAt, revision, this.#header, { json, versionAt: this.versionAt })
  }
}

/** Makes objects of what is stored under keys with one prefix. */
export interface ObjectReader {
  readonly prefix: string
  readonly headers: HeaderReader
  readonly allocate: Allocate
}

/** `key` is `<prefix><namespace>/<name>`, or `<prefix><name>` for kinds without namespaces. Throws UnreadableValue. */
export function readStored(
  { prefix, headers, allocate }: ObjectReader,
  key: string,
  revision: number,
  value: Uint8Array,
): CachedObject {
  const header = headers.read(key, value)
  const json = storedJson(value, formatVersion(revision), allocate)
  return new CachedObject(key, prefix.length, revision, header, json)
}
