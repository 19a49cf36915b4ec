/**
 * Finds the dependents of an owner by listing objects instead of using the graph. Watches are independent of each
 * other, so the graph may lack a dependent that was created before its owner was deleted, or even a whole type. The
 * `orphan` finalizer is removed only after such a search. Otherwise, dependents that should be orphaned would be
 * deleted with their owner.
 *
 * A search starts with discovery. It lists the metadata of all types at the latest revision, in the owner's namespace
 * or, for a cluster-scoped owner, in the whole cluster. Callers that request a search of the same namespace before the
 * search starts share one search. The search fails if a type cannot be listed, even if the type was removed after
 * discovery. The next search runs discovery again.
 */

import type { ApiObject } from '../../../api/model/object.ts'
import { SharedLookup } from '../../../base/concurrency/shared-lookup.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, discover } from '../../../client/requests/discovery.ts'
import { metadataForm } from '../../../client/requests/metadata-form.ts'
import { isCollected } from './followed-types.ts'

/** Type, name and UID of a dependent. */
export interface Dependent {
  readonly type: DiscoveredType
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
}

interface SearchedOwner {
  readonly uid: string
  readonly namespace: string | undefined
}

/** The dependents that a search found, by the UID of their owner. */
type Found = ReadonlyMap<string, readonly Dependent[]>

const listsAtOnce = 8

export class DependentSearch {
  readonly #client: Client
  /** Running searches, by namespace. */
  readonly #searches = new Map<string | undefined, NamespaceSearch>()

  constructor(client: Client) {
    this.#client = client
  }

  async find({ uid, namespace }: SearchedOwner, signal: AbortSignal): Promise<readonly Dependent[]> {
    const search = this.#searches.get(namespace) ?? new NamespaceSearch(this.#client, namespace, signal)
    this.#searches.set(namespace, search)
    try {
      return await search.find(uid)
    } finally {
      if (search.isIdle && this.#searches.get(namespace) === search) this.#searches.delete(namespace)
    }
  }
}

class NamespaceSearch {
  readonly #client: Client
  readonly #namespace: string | undefined
  readonly #signal: AbortSignal
  readonly #lookup = new SharedLookup(() => this.#run())
  /** How many callers are waiting for the dependents of each owner, by owner UID. */
  readonly #owners = new Map<string, number>()

  constructor(client: Client, namespace: string | undefined, signal: AbortSignal) {
    this.#client = client
    this.#namespace = namespace
    this.#signal = signal
  }

  get isIdle(): boolean {
    return this.#owners.size === 0
  }

  async find(uid: string): Promise<readonly Dependent[]> {
    this.#owners.set(uid, (this.#owners.get(uid) ?? 0) + 1)
    try {
      return (await this.#lookup.ask()).get(uid) ?? []
    } finally {
      const remainingUses = this.#owners.get(uid)! - 1
      if (remainingUses === 0) this.#owners.delete(uid)
      else this.#owners.set(uid, remainingUses)
    }
  }

  async #run(): Promise<Found> {
    const dependentsByOwner = new Map<string, Dependent[]>([...this.#owners.keys()].map((uid) => [uid, []]))
    const types = await searchedTypes(this.#client, this.#signal)
    const typesToList = types.filter(({ namespaced }) => namespaced || this.#namespace === undefined)
    for (let i = 0; i < typesToList.length; i += listsAtOnce)
      await Promise.all(typesToList.slice(i, i + listsAtOnce).map((type) => this.#list(type, dependentsByOwner)))
    return dependentsByOwner
  }

  async #list(type: DiscoveredType, dependentsByOwner: ReadonlyMap<string, Dependent[]>): Promise<void> {
    const place = this.#namespace === undefined ? {} : { namespace: this.#namespace }
    // If the continue token expires, the list starts over. Finding a dependent twice is harmless.
    const options = { ...place, accept: metadataForm.list, signal: this.#signal, onRestart: () => {} }
    for await (const { items } of this.#client.pages<ApiObject>(type, options))
      for (const { metadata } of items) note(type, metadata, dependentsByOwner)
  }
}

function note(
  type: DiscoveredType,
  metadata: ApiObject['metadata'],
  dependentsByOwner: ReadonlyMap<string, Dependent[]>,
): void {
  for (const reference of metadata.ownerReferences ?? []) {
    const { namespace, name = '', uid = '' } = metadata
    dependentsByOwner.get(reference.uid)?.push({ type, namespace, name, uid })
  }
}

/** Returns all types that the garbage collector handles. Throws if discovery is incomplete. */
async function searchedTypes(client: Client, signal: AbortSignal): Promise<DiscoveredType[]> {
  const { types, failures } = await discover(client, { signal })
  const definitions = types.find(({ plural }) => plural === 'customresourcedefinitions')
  const missing = definitions === undefined ? [] : await undiscovered(client, { definitions, types, signal })
  const unknown = [...failures, ...missing]
  if (unknown.length > 0) throw new Error(`cannot search for dependents: types are missing: ${unknown.join(', ')}`)
  return types.filter(isCollected)
}

interface Definition extends ApiObject {
  readonly spec?: { readonly group?: string; readonly names?: { readonly plural?: string } }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/**
 * Returns custom types that are established but missing from discovery, because the server that responded may lag
 * behind another server.
 */
async function undiscovered(
  client: Client,
  {
    definitions,
    types,
    signal,
  }: { definitions: DiscoveredType; types: readonly DiscoveredType[]; signal: AbortSignal },
): Promise<string[]> {
  const discoveredTypes = new Set(types.map(({ group, plural }) => `${plural}.${group}`))
  const { items } = await client.list<Definition>({ ...definitions }, { signal })
  return items
    .filter(({ metadata, status }) => metadata.deletionTimestamp === undefined && isEstablished(status))
    .map(({ spec }) => `${spec?.names?.plural}.${spec?.group}`)
    .filter((name) => !discoveredTypes.has(name))
}

function isEstablished(status: Definition['status']): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True') ?? false
  )
}
