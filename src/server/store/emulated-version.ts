/**
 * The Kubernetes version of a store. The store records the version that its servers emulate, so that an upgrade of this
 * program does not change the version. A higher `--emulated-version` raises the recorded version. To lower it, the
 * administrator must confirm with a flag, because a lower version hides some parts of objects and drops these parts
 * when the objects are written.
 */
import type { ProfileName } from '../../api/model/vendor.ts'
import {
  type EmulatedVersion,
  emulatedVersions,
  minorOf,
  newestVersion,
  oldestVersion,
} from '../../api/versions/emulated-version.ts'
import { emulatedVersionKey } from '../../apiserver/registry/reads/other-versions.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Entry, Store } from '../../storage/store/store.ts'
import type { ServerOptions } from '../flags/options.ts'
import { profileKey } from './profile.ts'

/**
 * The version that a new store emulates. For the `orch` profile, it is the version that the specification describes.
 */
const versionOfNewStores: { readonly [profile in ProfileName]: EmulatedVersion } = {
  orch: oldestVersion,
  kubernetes: newestVersion,
}

type VersionFlags = Pick<ServerOptions, 'emulatedVersion' | 'allowVersionDowngrade' | 'profile'>

/**
 * Maximum number of attempts to update the record. Another server may change the record between the read and the write.
 */
const maxAttempts = 10

/**
 * Returns the version to emulate and records it. Must be called before the profile of a new store is recorded. Throws
 * UsageError if the version is lower than the recorded version and no flag permits the downgrade.
 */
export async function settleEmulatedVersion(store: Store, flags: VersionFlags): Promise<EmulatedVersion> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const entry = await store.get(emulatedVersionKey)
    const isNew = entry === undefined && (await store.get(profileKey)) === undefined
    const storedVersion = isNew ? undefined : recordedVersion(entry)
    const version = flags.emulatedVersion ?? storedVersion ?? versionOfNewStores[flags.profile]
    if (storedVersion !== undefined && minorOf(version) < minorOf(storedVersion) && !flags.allowVersionDowngrade)
      throw await downgradeRefusal(store, { version, recorded: storedVersion, profile: flags.profile })
    if (version === (storedVersion ?? oldestVersion)) return version
    const expected = entry?.revision ?? 0
    const result = await store.commit({ key: emulatedVersionKey, expected, value: Buffer.from(version) })
    if (result.outcome === 'committed') return version
  }
  throw new UsageError('other servers keep changing the Kubernetes version recorded in the store; try again')
}

/** Returns the Kubernetes version that the store records, or the oldest version if it records none. */
export async function emulatedVersionOf(store: Pick<Store, 'get'>): Promise<string> {
  const entry = await store.get(emulatedVersionKey)
  return entry === undefined ? oldestVersion : Buffer.from(entry.value).toString()
}

function recordedVersion(entry: Entry | undefined): EmulatedVersion {
  if (entry === undefined) return oldestVersion
  const text = Buffer.from(entry.value).toString()
  const version = emulatedVersions.find((candidate) => candidate === text)
  if (version !== undefined) return version
  throw new UsageError(
    `the store records Kubernetes version ${JSON.stringify(text)}, but this program emulates only ${oldestVersion} to ${newestVersion}: use the release of this program that last opened the store`,
  )
}

interface Downgrade {
  readonly version: EmulatedVersion
  readonly recorded: EmulatedVersion
  readonly profile: ServerOptions['profile']
}

async function downgradeRefusal(store: Store, { version, recorded, profile }: Downgrade): Promise<UsageError> {
  const { countAffected } = await import('./version-downgrade.ts')
  const { withNewerFields, ofNewerKinds } = await countAffected(store, { version, profile })
  const parts = [
    listing(withNewerFields, `with fields that ${version} does not have`),
    listing(ofNewerKinds, `of kinds that ${version} does not have`),
  ].filter((part) => part !== '')
  const affected = parts.length === 0 ? 'no stored object has newer parts' : `this affects ${parts.join(', and ')}`
  return new UsageError(
    `the store records Kubernetes version ${recorded}, and --emulated-version=${version} is lower: ${affected}. Start with --emulated-version=${recorded}, or add --allow-version-downgrade to hide newer fields and kinds; the server drops a newer field when it writes the object`,
  )
}

/** Formats the counts, for example as `2 pods, 1 jobs.batch with fields that …`. */
function listing(counts: ReadonlyMap<string, number>, which: string): string {
  if (counts.size === 0) return ''
  return `${[...counts].map(([type, count]) => `${count} ${type}`).join(', ')} ${which}`
}
