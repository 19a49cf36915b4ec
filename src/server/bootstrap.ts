/** What a store must hold before it is served: its vendor profile, the key of continue tokens, the system's own objects. */

import { randomBytes } from 'node:crypto'
import { UsageError } from '../base/flags.ts'
import { systemPriorityClasses } from '../kinds/scheduling/priority-class.ts'
import { type ProfileName, profileNames } from '../model/vendor.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { Store } from '../store/store.ts'
import { createMissing } from './own-writes.ts'

const profileKey = 'meta/profile'
const continueKey = 'meta/continue-key'

/** The namespaces that always exist. */
export const systemNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

/** Names are data: a store is served only under the profile that it was made with. */
export async function claimProfile(store: Store, profile: ProfileName): Promise<void> {
  const stored = (await settledValue(store, profileKey, () => Buffer.from(profile))).toString('utf8')
  if (stored === profile) return
  const remedy = profileNames.some((name) => name === stored)
    ? `start with --profile=${stored}, or with another data directory`
    : 'start with another data directory'
  throw new UsageError(
    `the store was made with the profile ${JSON.stringify(stored)}, and names in it cannot change: ${remedy}`,
  )
}

/** The key that continue tokens are signed with, the same for all servers on the store. */
export async function continueTokenKey(store: Store): Promise<Buffer> {
  return await settledValue(store, continueKey, () => randomBytes(32))
}

/** The value of a key, made on first use; when several servers make it at once, all use the first one's. */
async function settledValue(store: Store, key: string, make: () => Buffer): Promise<Buffer> {
  const found = await store.get(key)
  if (found !== undefined) return Buffer.from(found.value)
  const value = make()
  const result = await store.commit({ key, expected: 0, value })
  return result.outcome === 'committed' ? value : Buffer.from(result.current!.value)
}

/** The objects that always exist. */
export async function createSystemObjects(catalogue: Catalogue): Promise<void> {
  await createSystemNamespaces(catalogue)
  await createSystemPriorityClasses(catalogue)
}

async function createSystemNamespaces(catalogue: Catalogue): Promise<void> {
  const namespaces = catalogue.stored('core', 'namespaces')
  // A server may be made of other kinds alone, as some tests do.
  if (namespaces === undefined) return
  await Promise.all(systemNamespaces.map((name) => createMissing(namespaces, { namespace: '', name }, {})))
}

/** The classes of pods that every cluster has, where somebody has deleted them, too. */
async function createSystemPriorityClasses(catalogue: Catalogue): Promise<void> {
  const classes = catalogue.stored('scheduling', 'priorityclasses')
  if (classes === undefined) return
  await Promise.all(
    systemPriorityClasses.map(({ name, ...rest }) => createMissing(classes, { namespace: '', name }, rest)),
  )
}
