/**
 * An object as the cache holds it: the bytes that a GET sends, and the little that lists and watches select by.
 * Made once per change and shared by every reader; never changed.
 */
import { replaceVersion, type StoredHeader, storedHeader, storedJson, type VersionedJson } from '../codec/stored.ts'
import { formatVersion } from '../model/resource-version.ts'

export interface CachedObject extends VersionedJson {
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly header: StoredHeader
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
    ...storedJson(value, formatVersion(revision)),
  }
}

/** The object as a DELETED event shows it: its last state, with the version of its deletion. */
export function withRevision(object: CachedObject, revision: number): CachedObject {
  return { ...object, revision, json: replaceVersion(object, formatVersion(object.revision), formatVersion(revision)) }
}
