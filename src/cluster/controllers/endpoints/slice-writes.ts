/**
 * How loops write slices, and what they have written and not seen yet. A Service whose slices are behind what was written is left alone
 * until the watch has caught up, or for a minute at most: a slice that others deleted meanwhile may never be seen.
 */

import type { EndpointSlice } from '../../../api/kinds/discovery/endpoint-slice.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { ObjectChange } from '../../../client/informers/informer.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf, nameOf } from '../../../client/requests/resource-type.ts'
import { unlessGone } from '../unless-gone.ts'
import type { SlicePlan } from './slice-plan.ts'

const maxWaitMs = 60_000

interface Write {
  /** The generation that was written; infinite: the slice was deleted. */
  readonly generation: number
  readonly at: number
}

export class SliceWrites {
  readonly #clock: Clock
  /** By the key of the Service, and then by the UID of the slice. */
  readonly #unseen = new Map<string, Map<string, Write>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wrote(key: string, slice: EndpointSlice): void {
    this.#note(key, slice, slice.metadata.generation ?? 0)
  }

  deleted(key: string, slice: EndpointSlice): void {
    this.#note(key, slice, Number.POSITIVE_INFINITY)
  }

  sawDeletion(key: string, { metadata: { uid = '' } }: EndpointSlice): void {
    this.#unseen.get(key)?.delete(uid)
  }

  forget(key: string): void {
    this.#unseen.delete(key)
  }

  /** How long to wait for slices to be as they were written; 0 where they are. */
  waitMs(key: string, slices: readonly EndpointSlice[]): number {
    const writes = this.#unseen.get(key)
    if (writes === undefined) return 0
    const seen = new Map(slices.map(({ metadata }) => [metadata.uid ?? '', metadata.generation ?? 0]))
    let longest = 0
    for (const [uid, { generation, at }] of writes) {
      const now = seen.get(uid)
      const isSeen =
        generation === Number.POSITIVE_INFINITY ? now === undefined : now !== undefined && now >= generation
      const left = at + maxWaitMs - this.#clock.monotonic()
      if (isSeen || left <= 0) writes.delete(uid)
      else longest = Math.max(longest, left)
    }
    if (writes.size === 0) this.#unseen.delete(key)
    return longest
  }

  #note(key: string, { metadata: { uid = '' } }: EndpointSlice, generation: number): void {
    const writes = this.#unseen.get(key) ?? new Map<string, Write>()
    this.#unseen.set(key, writes.set(uid, { generation, at: this.#clock.monotonic() }))
  }
}

/** What it takes to write slices. */
export interface SliceWriting {
  readonly client: Client
  readonly vendor: Vendor
  readonly writes: SliceWrites
}

/** Writes the slices of a plan. Where their owner is about to go, none is made: it would be in the way of its deletion. */
export async function carryOut(
  writing: SliceWriting,
  key: string,
  { plan, isEnding, signal }: { plan: SlicePlan; isEnding: boolean; signal: AbortSignal },
): Promise<void> {
  const { client, vendor, writes } = writing
  const type = inDomainOf(vendor, kinds.EndpointSlice)
  const creates = isEnding ? [] : plan.create
  for (const slice of creates) writes.wrote(key, await client.create(type, slice, { signal }))
  for (const slice of plan.update) writes.wrote(key, await client.update(type, slice, { signal }))
  for (const slice of plan.remove) await removeSlice(writing, key, { slice, signal })
}

export async function removeSlice(
  { client, vendor, writes }: SliceWriting,
  key: string,
  { slice, signal }: { slice: EndpointSlice; signal: AbortSignal },
): Promise<void> {
  const preconditions = { uid: slice.metadata.uid! }
  await unlessGone(client.delete(inDomainOf(vendor, kinds.EndpointSlice), nameOf(slice), { preconditions, signal }))
  writes.deleted(key, slice)
}

/** The keys of the Services whose slices change, as `keyOf` finds them. */
export function changedSlices(
  writes: SliceWrites,
  keyOf: (slice: EndpointSlice) => string | undefined,
): (change: ObjectChange<EndpointSlice>) => Iterable<string> {
  return ({ previous, object }) => {
    const keys = [previous, object].flatMap((slice) => (slice === undefined ? [] : (keyOf(slice) ?? [])))
    if (object === undefined) for (const key of keys) writes.sawDeletion(key, previous!)
    return new Set(keys)
  }
}
