/**
 * Who owns whom, over all kinds: a node for each object, by its UID, with as little of it as collecting takes. An owner
 * that nobody has seen is a node without a type, for as long as an object names it.
 *
 * Whenever an object may need something done, its UID is handed to `onAttention`; the collector then looks at the node
 * and decides. Nothing here is proof of the state of an owner: `live-owners.ts` asks the server.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ObjectMeta, OwnerReference } from '../../../api/model/object.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { DiscoveredType } from '../../../client/requests/discovery.ts'

/** The finalizers by which a delete says what becomes of the dependents. */
export const foregroundFinalizer = 'foregroundDeletion'
export const orphanFinalizer = 'orphan'

export interface Owner {
  readonly node: OwnerNode
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Whether a foreground deletion of the owner waits for this dependent. */
  readonly blocks: boolean
}

/** What the deletion of an object waits for. */
export type Waits = 'no' | 'dependents deleted' | 'dependents orphaned' | 'others'

export class OwnerNode {
  readonly uid: string
  /** Undefined while no such object was seen. */
  type: DiscoveredType | undefined
  namespace: string | undefined
  name = ''
  owners: readonly Owner[] = none
  dependents: Set<OwnerNode> | undefined
  /** How many dependents a foreground deletion waits for. */
  blocking = 0
  waits: Waits = 'no'
  /** The list of its type that it was last seen in or after. */
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
  /** An object that others name as their owner was deleted. */
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

  /** The object as it is now. */
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

  /** The object is gone; or its type is, so that nobody can tell. */
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

  /** All objects of a type were listed: those of before that the list did not bring are gone. */
  async endListing(type: DiscoveredType, listing: number): Promise<void> {
    await this.#each((node) => {
      if (node.type === type && node.listing < listing) this.remove(node.uid, 'object')
    })
  }

  /** A type is not served any more. */
  async dropType(type: DiscoveredType): Promise<void> {
    await this.#each((node) => {
      if (node.type === type) this.remove(node.uid, 'type')
    })
  }

  /** Hands every object that needs something done to `onAttention`. */
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
    const known = this.#nodes.get(uid)
    if (known !== undefined) return known
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
    const kept = new Set(node.owners.map((owner) => owner.node))
    for (const { node: owner } of before) {
      if (!kept.has(owner)) this.#removeDependent(owner, node)
      if (isFreed(owner)) this.#options.onAttention(owner.uid)
    }
  }

  /** The owners of an object, each once, whatever it says. */
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

/** Whether there is something to be done about an object, as far as the graph knows. */
function needsAttention(node: OwnerNode): boolean {
  if (node.type === undefined) return false
  if (node.waits === 'dependents orphaned') return true
  if (node.waits === 'dependents deleted') return node.blocking === 0 || node.owners.some(isBlockedInTurn)
  return node.waits === 'no' && node.owners.some((owner) => !isSolid(node, owner))
}

/** Whether the last dependent that a deletion waited for has gone. Cheap: asked for each that goes. */
function isFreed({ waits, blocking, dependents }: OwnerNode): boolean {
  if (waits === 'dependents orphaned') return dependents === undefined
  return waits === 'dependents deleted' && blocking === 0
}

/** Whether the owner's own deletion waits for this dependent: they may wait for each other. */
function isBlockedInTurn({ node, blocks }: Owner): boolean {
  return blocks && node.waits === 'dependents deleted'
}

/** The owners of an object that wait for it, and for which it waits itself: one of a circle must stop waiting. */
export function circlesThrough(node: OwnerNode): Owner[] {
  return node.waits === 'dependents deleted'
    ? node.owners.filter((owner) => isBlockedInTurn(owner) && leadsTo(owner.node, node))
    : []
}

/** Whether a chain of owners that wait for their dependents leads from one object to another. */
function leadsTo(from: OwnerNode, to: OwnerNode): boolean {
  const seen = new Set<OwnerNode>([from])
  for (const node of seen) {
    if (node === to) return true
    for (const owner of node.owners) if (isBlockedInTurn(owner)) seen.add(owner.node)
  }
  return false
}

/** Whether the owner is there, is the object that the reference describes, and keeps its dependents. */
function isSolid(node: OwnerNode, owner: Owner): boolean {
  return describes(node, owner) && owner.node.waits !== 'dependents deleted'
}

/** Whether the object with the owner's UID was seen where the reference says that it is. */
export function describes(node: OwnerNode, { node: { type, name, namespace }, ...reference }: Owner): boolean {
  if (type === undefined || name !== reference.name || type.kind !== reference.kind) return false
  if (type.group !== groupOf(reference.apiVersion)) return false
  return !type.namespaced || namespace === node.namespace
}

/** What the deletion of an object waits for, by its metadata. */
export function waitsOf({ deletionTimestamp, finalizers = [] }: ObjectMeta): Waits {
  if (deletionTimestamp === undefined) return 'no'
  if (finalizers.includes(orphanFinalizer)) return 'dependents orphaned'
  return finalizers.includes(foregroundFinalizer) ? 'dependents deleted' : 'others'
}

/** One copy of strings that many objects have, such as namespaces. */
class SharedStrings {
  readonly #known = new BoundedMap<string, string>(maxShared)

  get(text: string): string {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    this.#known.set(text, text)
    return text
  }

  optional(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.get(text)
  }
}

const maxShared = 10_000
