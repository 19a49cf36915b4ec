/**
 * Maintains the owner graph: discovers the server's types and watches the metadata of their objects. Discovery runs
 * periodically, after the definitions and APIServices have been listed, and whenever a definition or APIService
 * changes.
 *
 * The graph is complete when every type has been discovered and listed. It becomes incomplete when a new type appears,
 * or when a type is listed again because its watch cannot be resumed. No decision may rely on an incomplete graph. When
 * the graph becomes complete, all its objects are examined.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { pause } from '../../../base/concurrency/abort.ts'
import { Reflector, type ReflectorSink } from '../../../client/informers/reflector.ts'
import type { Feed } from '../../../client/reconcile/sources.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, type DiscoveredTypes, discover } from '../../../client/requests/discovery.ts'
import { metadataForm } from '../../../client/requests/metadata-form.ts'
import { typeName } from '../../../client/requests/resource-type.ts'
import type { OwnerGraph } from './owner-graph.ts'

export interface FollowedTypesParts {
  readonly client: Client
  readonly graph: OwnerGraph
  /** Called for each failure. The failed operation is retried. */
  readonly onError: (what: string, error: unknown) => void
  /**
   * Called when the watch of a type restarts with a list. The store may have been restored from a backup in the
   * meantime.
   */
  readonly onRelist: () => void
  /** Called periodically with the missing types while the graph is incomplete. */
  readonly onIncomplete: (missing: string) => void
}

/**
 * Interval between discovery runs in milliseconds. `shortestMs` is the minimum interval, even if definitions change
 * constantly.
 */
const refreshMs = 30_000
const shortestMs = 200
/** Maximum number of missing types to name in a message. */
const maxNamed = 10

interface Followed {
  readonly type: DiscoveredType
  readonly ended: AbortController
  /** Whether the latest list of this type has been received completely. */
  isListed: boolean
  /**
   * Whether discovery no longer returns the type. The type is dropped after the remaining events of its watch have been
   * processed.
   */
  isLeaving: boolean
}

export class FollowedTypes implements Feed {
  readonly synced: Promise<boolean>
  readonly #parts: FollowedTypesParts
  readonly #followed = new Map<string, Followed>()
  readonly #running = new Set<Promise<void>>()
  #settle!: (synced: boolean) => void
  /** Group versions whose types could not be discovered. */
  #undiscovered: readonly string[] = ["the server's types"]
  #missing: readonly string[] = this.#undiscovered
  #wake = new AbortController()

  constructor(parts: FollowedTypesParts) {
    this.#parts = parts
    this.synced = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Whether all types have been discovered and listed. */
  get isComplete(): boolean {
    return this.#missing.length === 0
  }

  /** Returns the type that a reference names, or undefined if the type is not served or not listed yet. */
  typeOf(apiVersion: string, kind: string): DiscoveredType | undefined {
    const group = groupOf(apiVersion)
    for (const { type, isListed, isLeaving } of this.#followed.values())
      if (type.kind === kind && type.group === group && isListed && !isLeaving) return type
    return undefined
  }

  /** Runs discovery again as soon as possible, without waiting for the interval. */
  refreshSoon(): void {
    this.#wake.abort()
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#refresh(signal)
      await pause(shortestMs, signal)
      await pause(refreshMs, AbortSignal.any([signal, this.#wake.signal]))
      if (!this.isComplete && !signal.aborted && !this.#wake.signal.aborted)
        this.#parts.onIncomplete(this.#missing.slice(0, maxNamed).join(', '))
    }
    for (const { ended } of this.#followed.values()) ended.abort()
    await Promise.all(this.#running)
    this.#settle(false)
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    this.#wake = new AbortController()
    try {
      await this.#follow(await discover(this.#parts.client, { signal }))
    } catch (error) {
      if (signal.aborted) return
      this.#undiscovered = ["the server's types"]
      this.#parts.onError('discovery', error)
    }
    await this.#look()
  }

  async #follow({ types, failures }: DiscoveredTypes): Promise<void> {
    this.#undiscovered = failures
    const collectedTypes = new Map(types.filter(isCollected).map((type) => [keyOf(type), type]))
    for (const [key, followed] of this.#followed) {
      if (collectedTypes.has(key)) followed.isLeaving = false
      else if (failures.length === 0) await this.#leave(key, followed)
    }
    for (const [key, type] of collectedTypes) if (!this.#followed.has(key)) this.#begin(key, type)
  }

  #begin(key: string, type: DiscoveredType): void {
    const followed: Followed = { type, ended: new AbortController(), isListed: false, isLeaving: false }
    this.#followed.set(key, followed)
    const reflector = new Reflector(this.#parts.client, type, {
      accept: metadataForm,
      streamingLists: false,
      sink: this.#sink(followed),
      onError: (error) => {
        if (followed.isLeaving) void this.#drop(key, followed)
        else this.#parts.onError(typeName(type), error)
      },
    })
    const running = reflector.run(followed.ended.signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  #sink(followed: Followed): ReflectorSink<ApiObject> {
    const { graph } = this.#parts
    const { type } = followed
    const definesTypes = type.plural === 'customresourcedefinitions' || type.plural === 'apiservices'
    let listing = 0
    const changed = () => {
      if (definesTypes && followed.isListed) this.refreshSoon()
    }
    return {
      beginList: () => {
        if (++listing > 1) this.#parts.onRelist()
        followed.isListed = false
        // Only `#look` may declare the graph complete, because it then examines all objects.
        if (!followed.isLeaving) this.#missing = [...this.#missing, typeName(type)]
      },
      endList: async () => {
        if (listing > 1) await graph.endListing(type, listing)
        followed.isListed = true
        // The definition may have been added after this discovery started, so discovery runs again.
        changed()
        await this.#look()
      },
      set: ({ metadata }) => {
        graph.set(type, metadata, listing)
        changed()
      },
      remove: ({ metadata }) => {
        graph.remove(metadata.uid ?? '', 'object')
        changed()
      },
    }
  }

  /**
   * Ends the watch of a type after the watch's last events. If the type is still missing at the next discovery, the
   * type is dropped.
   */
  async #leave(key: string, followed: Followed): Promise<void> {
    if (followed.isLeaving) await this.#drop(key, followed)
    followed.isLeaving = true
  }

  async #drop(key: string, followed: Followed): Promise<void> {
    if (this.#followed.get(key) === followed) this.#followed.delete(key)
    followed.ended.abort()
    await this.#parts.graph.dropType(followed.type)
  }

  /** Updates the completeness of the graph. If the graph has just become complete, examines all objects. */
  async #look(): Promise<void> {
    const wasComplete = this.isComplete
    const unlisted = [...this.#followed.values()].filter(({ isListed, isLeaving }) => !isListed && !isLeaving)
    this.#missing = [...this.#undiscovered, ...unlisted.map(({ type }) => typeName(type))]
    if (wasComplete || !this.isComplete) return
    this.#settle(true)
    await this.#parts.graph.attendAll()
  }
}

/**
 * Whether objects of a type are collected. Events are excluded: they are numerous and short-lived, own nothing and have
 * no owners.
 */
export function isCollected({ group, plural, verbs }: DiscoveredType): boolean {
  if (plural === 'events' && (group === '' || group.startsWith('events.'))) return false
  return ['get', 'list', 'watch'].every((verb) => verbs.includes(verb))
}

function keyOf({ group, version, plural, kind, namespaced }: DiscoveredType): string {
  return [group, version, plural, kind, namespaced].join('/')
}
