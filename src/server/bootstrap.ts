/** What a store must hold before it is served: its vendor profile, and the system's own objects. */

import { UsageError } from '../base/flags.ts'
import { systemPriorityClasses } from '../kinds/scheduling/priority-class.ts'
import { type ProfileName, profileNames } from '../model/vendor.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import type { Store } from '../store/store.ts'
import { createMissing } from './own-writes.ts'
import { settledValue } from './shared-keys.ts'

const profileKey = 'meta/profile'

/** Where the parts of the cluster itself are. */
export const systemNamespace = 'kube-system'

/** The namespaces that always exist. */
export const systemNamespaces = ['default', systemNamespace, 'kube-public', 'kube-node-lease']

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
