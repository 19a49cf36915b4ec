/**
 * Reads objects that were stored by a server that emulated another Kubernetes version (`--emulated-version`). As in
 * kube-apiserver, newer defaults are added, and fields that the current version does not have are hidden. The stored
 * value does not change until the next write of the object. The caches contain the objects in the form of the current
 * version, so their readers need not check the version (docs/decisions/0061).
 */
import { parseOwnJson } from '../../../api/codec/json.ts'
import { encodeStored, HeaderReader, storedJson, UnreadableValue } from '../../../api/codec/stored.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { dropGatedFields } from '../../../api/schema/gated-fields.ts'
import { type Kind, orderOf } from '../../../api/schema/kind.ts'
import { normalizeSliced, type ObjectType } from '../../../api/schema/normalize.ts'
import { spanOf, type VersionSpan } from '../../../api/schema/version-span.ts'
import {
  type EmulatedVersion,
  type KubeVersion,
  minorOf,
  oldestVersion,
} from '../../../api/versions/emulated-version.ts'
import { runToCompletion } from '../../../base/concurrency/time-slice.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { OtherVersionReader } from '../../../storage/cache/cached-object.ts'

/**
 * The store key that records the emulated version. A store that records a profile but no version uses the oldest
 * supported version.
 */
export const emulatedVersionKey = 'meta/emulated-version'

/**
 * Returns the version to write in the header of a stored object. Returns undefined for the oldest version, which
 * headers omit.
 */
export function headerVersion(version: EmulatedVersion | undefined): EmulatedVersion | undefined {
  return version === oldestVersion ? undefined : version
}

/**
 * Returns a function that reads objects of a built-in kind that were stored by servers with other versions. `resource`
 * returns the storage version of the kind.
 */
export function otherVersionReader(
  resource: () => ObjectType,
  version: EmulatedVersion = oldestVersion,
): OtherVersionReader {
  let span: VersionSpan | undefined
  return {
    version: headerVersion(version),
    headers: new HeaderReader(),
    convert: (key, value, writtenAt = oldestVersion) => {
      const type = resource()
      span ??= spanOf(type.kind, { version, vendor: type.context.vendor })
      const minor = minorOf(writtenAt as KubeVersion)
      if (minor >= span.first && minor < span.end) return value
      return convert(type, { key, value, writtenAt, version })
    },
  }
}

interface Written {
  readonly key: string
  readonly value: Uint8Array
  readonly writtenAt: string
  readonly version: EmulatedVersion
}

function convert(type: ObjectType, { key, value, writtenAt, version }: Written): Buffer {
  const { json } = storedJson(value, '0', Buffer.allocUnsafe)
  try {
    const object = inThisVersion(type, asObject(parseOwnJson(json)))
    const header = { ...selectableOf(type.kind, object), version: headerVersion(version) }
    return encodeStored(key, { object, order: orderOf(type.kind), header })
  } catch (error) {
    const why = `the object was written at Kubernetes ${writtenAt} and cannot be read at ${version}: ${messageOf(error)}`
    throw new UnreadableValue(why, { cause: error })
  }
}

/** Returns a stored object with the fields and defaults of the current version. */
function inThisVersion(type: ObjectType, stored: ApiObject): ApiObject {
  const { object } = runToCompletion(normalizeSliced(type, asJson(stored)))
  // Do not add defaults whose feature gate is disabled, because a write would not add them either.
  dropGatedFields(type.kind.schema, { object: asJson(object), previous: asJson(stored) }, type.context)
  return object
}

function selectableOf({ views }: Kind, object: ApiObject) {
  return { labels: object.metadata.labels, fields: views.selectable?.(object) }
}
