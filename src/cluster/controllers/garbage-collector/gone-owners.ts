/**
 * Remembers custom objects that were deleted together with their definition. Their kind is no longer served, so they
 * cannot be read, but their dependents must be deleted. Two facts together prove that such an owner is absent: the
 * collector has received its deletion event, and the server confirms that nothing defines its kind.
 *
 * Entries expire after one hour. When a type is listed again, all entries are dropped, because a restore of the store
 * may have brought back the owner and its definition. If the entry of an owner has been dropped, its dependents are
 * kept, and `orch check` reports them.
 */

import { groupOf } from '../../../api/model/api-version.ts'
import type { ApiObject, OwnerReference } from '../../../api/model/object.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, discover } from '../../../client/requests/discovery.ts'
import type { OwnerNode } from './owner-graph.ts'

const rememberedMs = 60 * 60_000
/** Maximum number of remembered objects. When the limit is exceeded, the oldest are dropped. */
const maxRemembered = 8192

export class GoneOwners {
  readonly #client: Client
  readonly #clock: Clock
  /** Monotonic time at which each entry expires. */
  readonly #expiryTimes = new BoundedMap<string, number>(maxRemembered)

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Records that the collector received the deletion event of this object. */
  note({ type, namespace, name, uid }: OwnerNode): void {
    const { group, kind } = type!
    this.#expiryTimes.set(keyOf({ group, kind, namespace, name, uid }), this.#clock.monotonic() + rememberedMs)
  }

  forgetAll(): void {
    this.#expiryTimes.clear()
  }

  /**
   * Whether the collector has received the deletion event of the owner in this reference. `namespace` is the namespace
   * of the object that has the reference.
   */
  wasSeen(reference: OwnerReference, namespace: string | undefined): boolean {
    const { kind, name, uid } = reference
    const owner = { group: groupOf(reference.apiVersion), kind, name, uid }
    const keys = [undefined, namespace].map((place) => keyOf({ ...owner, namespace: place }))
    return keys.some((key) => (this.#expiryTimes.get(key) ?? 0) > this.#clock.monotonic())
  }

  /** Whether no object of this kind can exist: the server does not serve the kind, and no stored object defines it. */
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
    // An APIService without a service represents a group that this server serves itself.
    return items.flatMap(({ spec = {} }) => {
      const { group = '', names, service } = spec
      return names === undefined && service == null ? [] : [{ group, kind: names?.kind }]
    })
  }
}

/** An object that defines kinds: a CustomResourceDefinition or an APIService. */
interface Definer extends ApiObject {
  readonly spec?: { readonly group?: string; readonly names?: { readonly kind?: string }; readonly service?: object }
}

interface Defined {
  readonly group: string
  /** The kind that the object defines. Undefined means any kind of the group. */
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
