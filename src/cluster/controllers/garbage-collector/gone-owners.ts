/**
 * Custom objects that went together with their definition: nobody can read them by name any more, since their kind is
 * not served. Their dependents are to go too. Two things together show that such an owner is gone: the collector saw its
 * deletion, and now nothing defines its kind, which the server is asked for.
 *
 * What was seen is forgotten after an hour, and whenever a type is listed again: a restore of the store may have brought
 * owner and definition back. A dependent whose owner is forgotten stays; `orch check` reports it.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ApiObject, OwnerReference } from '../../../api/model/object.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, discover } from '../../../client/requests/discovery.ts'
import type { OwnerNode } from './owner-graph.ts'

const rememberedMs = 60 * 60_000
/** The oldest are forgotten first. */
const maxRemembered = 8192

export class GoneOwners {
  readonly #client: Client
  readonly #clock: Clock
  /** Until when each is remembered, on the monotonic clock. */
  readonly #gone = new BoundedMap<string, number>(maxRemembered)

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** The collector has seen that this object was deleted. */
  note({ type, namespace, name, uid }: OwnerNode): void {
    const { group, kind } = type!
    this.#gone.set(keyOf({ group, kind, namespace, name, uid }), this.#clock.monotonic() + rememberedMs)
  }

  forgetAll(): void {
    this.#gone.clear()
  }

  /** Whether the owner that an object in this namespace names was seen to go. */
  wasSeen(reference: OwnerReference, namespace: string | undefined): boolean {
    const { kind, name, uid } = reference
    const owner = { group: groupOf(reference.apiVersion), kind, name, uid }
    const keys = [undefined, namespace].map((place) => keyOf({ ...owner, namespace: place }))
    return keys.some((key) => (this.#gone.get(key) ?? 0) > this.#clock.monotonic())
  }

  /** Whether no object of this kind can exist: the server does not serve it, and no stored object defines it. */
  async isUndefinedKind({ apiVersion, kind }: OwnerReference, signal: AbortSignal): Promise<boolean> {
    const group = groupOf(apiVersion)
    const { types, failures } = await discover(this.#client, { signal })
    if (failures.length > 0 || types.some((type) => type.group === group && type.kind === kind)) return false
    const definers = types.filter(({ plural }) => plural === 'customresourcedefinitions' || plural === 'apiservices')
    const lists = await Promise.all(definers.map((type) => this.#definedBy(type, signal)))
    return definers.length === 2 && !lists.flat().some((each) => each.group === group && (each.kind ?? kind) === kind)
  }

  async #definedBy(type: DiscoveredType, signal: AbortSignal): Promise<Defined[]> {
    const { items } = await this.#client.list<Definer>({ ...type }, { signal })
    // An APIService without a service stands for what this server serves by itself.
    return items.flatMap(({ spec = {} }) => {
      const { group = '', names, service } = spec
      return names === undefined && service == null ? [] : [{ group, kind: names?.kind }]
    })
  }
}

/** What defines kinds: a CustomResourceDefinition, or an APIService. */
interface Definer extends ApiObject {
  readonly spec?: { readonly group?: string; readonly names?: { readonly kind?: string }; readonly service?: object }
}

interface Defined {
  readonly group: string
  /** Undefined: any kind of the group. */
  readonly kind: string | undefined
}

interface GoneOwner {
  readonly group: string
  readonly kind: string
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
}

function keyOf({ group, kind, namespace = '', name, uid }: GoneOwner): string {
  return [group, kind, namespace, name, uid].join('/')
}
