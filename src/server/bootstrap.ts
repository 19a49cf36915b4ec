/** What a store must hold before it is served: its vendor profile, the key of continue tokens, the system's own objects. */

import { randomBytes } from 'node:crypto'
import { admitAll } from '../admission/admission.ts'
import { UsageError } from '../base/flags.ts'
import { atOnce, Pace } from '../base/pace.ts'
import { systemPriorityClasses } from '../kinds/scheduling/priority-class.ts'
import { ApiError } from '../model/api-error.ts'
import type { JsonObject } from '../model/json.ts'
import { superusers } from '../model/user.ts'
import { type ProfileName, profileNames } from '../model/vendor.ts'
import type { Catalogue } from '../registry/catalogue.ts'
import { create } from '../registry/create.ts'
import type { Resource } from '../registry/resource.ts'
import { completeSteps } from '../schema/complete.ts'
import type { Store } from '../store/store.ts'

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
  const missing = systemNamespaces.filter(
    (name) => namespaces.cache.get(`${namespaces.cache.prefix}${name}`) === undefined,
  )
  await Promise.all(missing.map((name) => createFirst(namespaces, { metadata: { name } })))
}

/** The classes of pods that every cluster has, where somebody has deleted them, too. */
async function createSystemPriorityClasses(catalogue: Catalogue): Promise<void> {
  const classes = catalogue.stored('scheduling', 'priorityclasses')
  if (classes === undefined) return
  const missing = systemPriorityClasses.filter(
    ({ name }) => classes.cache.get(`${classes.cache.prefix}${name}`) === undefined,
  )
  await Promise.all(missing.map(({ name, ...rest }) => createFirst(classes, { metadata: { name }, ...rest })))
}

/** Creates an object of the whole cluster, unless another server on the same store was faster. */
async function createFirst(resource: Resource, fields: JsonObject): Promise<void> {
  const sent = { apiVersion: resource.apiVersion, kind: resource.kind.kind, ...fields }
  const { object } = atOnce(completeSteps(resource, sent))
  const context = {
    resource,
    namespace: '',
    subresource: '',
    user: { name: 'system:apiserver', uid: '', groups: [superusers], extra: new Map() },
    dryRun: false,
    optionsKind: 'CreateOptions',
    fieldManager: 'orch',
    warn: () => {},
    left: () => new AbortController().signal,
    pace: new Pace(),
    admission: admitAll,
  }
  await create(context, { object, managed: false }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error
  })
}
