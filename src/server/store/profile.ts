/**
 * The vendor profile of a store. Stored objects contain the profile's names, so a store can be served only under the
 * profile with which it was created.
 */

import { type ProfileName, profileNames } from '../../api/model/vendor.ts'
import { UsageError } from '../../base/flags/flags.ts'
import type { Store } from '../../storage/store/store.ts'
import { settledValue } from '../certificates/shared-keys.ts'

/** Store key under which the store's profile is recorded. */
export const profileKey = 'meta/profile'

/** Records the profile in a new store. Throws UsageError if the store was created with a different profile. */
export async function claimProfile(store: Store, profile: ProfileName): Promise<void> {
  const storedProfile = (await settledValue(store, profileKey, () => Buffer.from(profile))).toString('utf8')
  if (storedProfile === profile) return
  const remedy = profileNames.some((name) => name === storedProfile)
    ? `start with --profile=${storedProfile}, or with another data directory`
    : 'start with another data directory'
  throw new UsageError(
    `the store was created with the profile ${JSON.stringify(storedProfile)}, which cannot be changed: ${remedy}`,
  )
}

/** Returns the profile of a store, or undefined if the store has no profile yet or its profile is unknown. */
export async function profileOf(store: Store): Promise<ProfileName | undefined> {
  const storedProfile = Buffer.from((await store.get(profileKey))?.value ?? []).toString('utf8')
  return profileNames.find((name) => name === storedProfile)
}
