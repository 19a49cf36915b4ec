/**
 * An object as the cache holds it: the bytes that a GET sends, and the little that lists and watches select by.
 * Made once per change and shared by every reader; never changed.
 */
import { type StoredHeader, storedHeader, storedJson } from '../codec/stored.ts'
import { formatVersion } from '../model/resource-version.ts'

export interface CachedObject {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly header: StoredHeader
  /** The whole object as JSON, its resourceVersion included. */
  readonly json: Buffer
}

/** `key` is `<prefix><namespace>/<name>`, or `<prefix><name>` for kinds without namespaces. */
export function readStored(key: string, prefix: string, revision: number, value: Uint8Array): CachedObject {
  const header = storedHeader(value)
  const place = key.slice(prefix.length)
  const slash = place.indexOf('/')
  return {
    key,
    namespace: slash < 0 ? '' : place.slice(0, slash),
    name: place.slice(slash + 1),
    revision,
    header,
    json: storedJson(value, formatVersion(revision)),
  }
}

/** The object as a DELETED event shows it: its last state, with the version of its deletion. */
export function withRevision(object: CachedObject, revision: number): CachedObject {
  const old = Buffer.from(`"resourceVersion":"${formatVersion(object.revision)}","uid":"${object.header.uid}"`)
  const next = Buffer.from(`"resourceVersion":"${formatVersion(revision)}","uid":"${object.header.uid}"`)
  const start = object.json.lastIndexOf(old)
  if (start < 0) throw new TypeError(`${object.key} holds no resourceVersion`)
  const json = Buffer.concat([object.json.subarray(0, start), next, object.json.subarray(start + old.length)])
  return { ...object, revision, json }
}
