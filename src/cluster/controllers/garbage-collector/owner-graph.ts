/**
 * The graph of owners and dependents of all types. It has one node per object UID, with only the data that the
 * collector needs. An owner that was never observed is represented by a node without a type, which exists as long as an
 * object references the owner.
 *
 * The graph passes the UID of every object that may need an action to `onAttention`, and the collector decides. The
 * graph never proves the state of an owner, so `live-owners.ts` reads the state from the server.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ObjectMeta, OwnerReference } from '../../../api/model/object.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'

/** Finalizers that select the propagation policy of a deletion. */
export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

export interface Owner {
  readonly node: OwnerNode
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Whether a foreground deletion of the owner waits for the dependent. */
  readonly blocks: boolean
}

/** The objects that an object's deletion waits for. `no` means that the object is not being deleted. */
export type Waits = 'no' | 'dependents deleted' | 'dependents orphaned' | 'others'

export class OwnerNode {
  readonly uid: string
  /** Type of the object. Undefined until the object has been observed. */
  type: DiscoveredType | undefined
  namespace: string | undefined
  name = ''
  owners: readonly Owner[] = none
  dependents: Set<OwnerNode> | undefined
  /** Number of dependents that a foreground deletion of this object must wait for. */
  blocking = 0
  waits: Waits = 'no'
  /** Sequence number of the type's latest list at the time when the object was last observed. */
  listing = 0

  constructor(uid: string) {
    this.uid = uid
  }

  get isDeleting(): boolean {
    return this.waits !== 'no'
  }
}

const none: readonly never[] = []

export interface OwnerGraphOptions {
  readonly onAttention: (uid: string) => void
  /** Called when an object that others reference as their owner has been deleted. */
  readonly onGone: (node: OwnerNode) => void
}

export class OwnerGraph {
  readonly #nodes = new Map<string, OwnerNode>()
  readonly #options: OwnerGraphOptions
  readonly #shared = new SharedStrings()

  constructor(options: OwnerGraphOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): OwnerNode | undefined {
    return this.#nodes.get(uid)
  }

  /** Adds an object to the graph or updates it. */
  set(type: DiscoveredType, metadata: ObjectMeta, listing: number): void {
    const node = this.#nodeOf(metadata.uid ?? '')
    const isNew = node.type === undefined
    const before = node.waits
    node.type = type
    node.listing = listing
    node.name = metadata.name ?? ''
    node.namespace = this.#shared.optional(metadata.namespace)
    node.waits = waitsOf(metadata)
    this.#setOwners(node, metadata.ownerReferences ?? none)
    if (needsAttention(node)) this.#options.onAttention(node.uid)
    if (isNew || (node.waits === 'dependents deleted' && before !== node.waits)) this.#attendDependents(node)
  }

  /**
   * Removes an object from the graph. `what` specifies whether the object was deleted or its type is no longer served.
   * In the latter case, the object may still exist.
   */
  remove(uid: string, what: 'object' | 'type'): void {
    const node = this.#nodes.get(uid)
    if (node?.type === undefined) return
    if (what === 'object' && node.dependents !== undefined) this.#options.onGone(node)
    this.#setOwners(node, none)
    node.type = undefined
    node.waits = 'no'
    this.#attendDependents(node)
    this.#forgetIfUnused(node)
  }

  /** Completes a list of a type. Objects that the list did not contain have been deleted, and are removed. */
  async endListing(type: DiscoveredType, listing: number): Promise<void> {
    await this.#each((node) => {
      if (node.type === type && node.listing < listing) this.remove(node.uid, 'object')
    })
  }

  /** Removes all objects of a type that is no longer served. */
  async dropType(type: DiscoveredType): Promise<void> {
    await this.#each((node) => {
      if (node.type === type) this.remove(node.uid, 'type')
    })
  }

  /** Calls `onAttention` for each object that the collector must process. */
  async attendAll(): Promise<void> {
    await this.#each((node) => {
      if (needsAttention(node)) this.#options.onAttention(node.uid)
    })
  }

  async #each(visit: (node: OwnerNode) => void): Promise<void> {
    const slice = new TimeSlice()
    for (const node of this.#nodes.values()) {
      visit(node)
      if (slice.charge(1)) await slice.yieldIfDue()
    }
  }

  #nodeOf(uid: string): OwnerNode {
    const existingNode = this.#nodes.get(uid)
    if (existingNode !== undefined) return existingNode
    const node = new OwnerNode(uid)
    this.#nodes.set(uid, node)
    return node
  }

  #setOwners(node: OwnerNode, references: readonly OwnerReference[]): void {
    const before = node.owners
    if (before.length === 0 && references.length === 0) return
    node.owners = this.#ownersOf(references)
    for (const { node: owner, blocks } of node.owners) {
      owner.dependents ??= new Set()
      owner.dependents.add(node)
      if (blocks) owner.blocking++
    }
    for (const { node: owner, blocks } of before) if (blocks) owner.blocking--
    const currentOwners = new Set(node.owners.map((owner) => owner.node))
    for (const { node: owner } of before) {
      if (!currentOwners.has(owner)) this.#removeDependent(owner, node)
      if (isFreed(owner)) this.#options.onAttention(owner.uid)
    }
  }

  /** Returns each owner once, even if the object references it several times. */
  #ownersOf(references: readonly OwnerReference[]): readonly Owner[] {
    const owners = new Map<string, Owner>()
    for (const { uid, name, ...reference } of references) {
      const node = this.#nodeOf(uid)
      const apiVersion = this.#shared.get(reference.apiVersion)
      const kind = this.#shared.get(reference.kind)
      const blocks = reference.blockOwnerDeletion === true || owners.get(uid)?.blocks === true
      owners.set(uid, { node, apiVersion, kind, name: node.name === name ? node.name : this.#shared.get(name), blocks })
    }
    return owners.size === 0 ? none : [...owners.values()]
  }

  #removeDependent(owner: OwnerNode, node: OwnerNode): void {
    owner.dependents?.delete(node)
    if (owner.dependents?.size === 0) owner.dependents = undefined
    this.#forgetIfUnused(owner)
  }

  #forgetIfUnused(node: OwnerNode): void {
    if (node.type === undefined && node.dependents === undefined) this.#nodes.delete(node.uid)
  }

  #attendDependents({ dependents }: OwnerNode): void {
    for (const dependent of dependents ?? none) if (needsAttention(dependent)) this.#options.onAttention(dependent.uid)
  }
}

/** Whether the collector must process the object, judging only by the graph. */
function needsAttention(node: OwnerNode): boolean {
  if (node.type === undefined) return false
  if (node.waits === 'dependents orphaned') return true
  if (node.waits === 'dependents deleted') return node.blocking === 0 || node.owners.some(isBlockedInTurn)
  return node.waits === 'no' && node.owners.some((owner) => !isSolid(node, owner))
}

/**
 * Whether the last dependent that a deletion waited for has been removed. Must be cheap, because it runs for every
 * removed dependent.
 */
function isFreed({ waits, blocking, dependents }: OwnerNode): boolean {
  if (waits === 'dependents orphaned') return dependents === undefined
  return waits === 'dependents deleted' && blocking === 0
}

/**
 * Whether the dependent blocks this owner, and the owner is waiting for its dependents to be deleted. Such owners can
 * form a cycle.
 */
function isBlockedInTurn({ node, blocks }: Owner): boolean {
  return blocks && node.waits === 'dependents deleted'
}

/**
 * Returns the owners that wait for this object while the object waits for them. One object of such a cycle must stop
 * waiting.
 */
export function circlesThrough(node: OwnerNode): Owner[] {
  return node.waits === 'dependents deleted'
    ? node.owners.filter((owner) => isBlockedInTurn(owner) && leadsTo(owner.node, node))
    : []
}

/** Whether a chain of owners, each waiting for its dependents, leads from one object to another. */
function leadsTo(from: OwnerNode, to: OwnerNode): boolean {
  const visited = new Set<OwnerNode>([from])
  for (const node of visited) {
    if (node === to) return true
    for (const owner of node.owners) if (isBlockedInTurn(owner)) visited.add(owner.node)
  }
  return false
}

/**
 * Whether the owner exists, matches the reference and is not in a foreground deletion, which would delete its
 * dependents.
 */
function isSolid(node: OwnerNode, owner: Owner): boolean {
  return describes(node, owner) && owner.node.waits !== 'dependents deleted'
}

/** Whether the object with the owner's UID matches the name, kind and namespace of the reference. */
export function describes(node: OwnerNode, { node: { type, name, namespace }, ...reference }: Owner): boolean {
  if (type === undefined || name !== reference.name || type.kind !== reference.kind) return false
  if (type.group !== groupOf(reference.apiVersion)) return false
  return !type.namespaced || namespace === node.namespace
}

/** Returns what an object's deletion waits for, based on the object's metadata. */
export function waitsOf({ deletionTimestamp, finalizers = [] }: ObjectMeta): Waits {
  if (deletionTimestamp === undefined) return 'no'
  if (finalizers.includes(orphanFinalizer)) return 'dependents orphaned'
  return finalizers.includes(foregroundFinalizer) ? 'dependents deleted' : 'others'
}

/** Deduplicates strings that many objects share, such as namespaces. */
class SharedStrings {
  readonly #strings = new BoundedMap<string, string>(maxShared)

  get(text: string): string {
    const sharedText = this.#strings.get(text)
    if (sharedText !== undefined) return sharedText
    this.#strings.set(text, text)
    return text
  }

  optional(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.get(text)
  }
}

const maxShared = 10_000
