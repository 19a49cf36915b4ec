/**
 * Writes slices, and tracks the writes that the watch has not delivered yet. The loop does not reconcile a Service
 * until the watch has delivered its writes. The wait is limited to one minute, because the watch may never deliver a
 * slice that another client deleted.
 */

import type { EndpointSlice } from '../../../api/kinds/discovery/endpoint-slice.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { ObjectChange } from '../../../client/informers/informer.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf, nameOf } from '../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'
import type { SlicePlan } from './slice-plan.ts'

const maxWaitMs = 60_000

interface Write {
  /** The generation of the slice after the write. Infinity means that the slice was deleted. */
  readonly generation: number
  readonly at: number
}

export class SliceWrites {
  readonly #clock: Clock
  /** Writes that the watch has not delivered yet, by Service key and then by slice UID. */
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

  /**
   * Returns the milliseconds to wait until the watch has delivered the written slices, or 0 if it has delivered all of
   * them.
   */
  waitMs(key: string, slices: readonly EndpointSlice[]): number {
    const writes = this.#unseen.get(key)
    if (writes === undefined) return 0
    const generations = new Map(slices.map(({ metadata }) => [metadata.uid ?? '', metadata.generation ?? 0]))
    let longest = 0
    for (const [uid, { generation, at }] of writes) {
      const now = generations.get(uid)
      const isSeen =
        generation === Number.POSITIVE_INFINITY ? now === undefined : now !== undefined && now >= generation
      const remainingMs = at + maxWaitMs - this.#clock.monotonic()
      if (isSeen || remainingMs <= 0) writes.delete(uid)
      else longest = Math.max(longest, remainingMs)
    }
    if (writes.size === 0) this.#unseen.delete(key)
    return longest
  }

  #note(key: string, { metadata: { uid = '' } }: EndpointSlice, generation: number): void {
    const writes = this.#unseen.get(key) ?? new Map<string, Write>()
    this.#unseen.set(key, writes.set(uid, { generation, at: this.#clock.monotonic() }))
  }
}

/** The client for writing slices, and the record of writes that the watch has not delivered yet. */
export interface SliceWriting {
  readonly client: Client
  readonly vendor: Vendor
  readonly writes: SliceWrites
}

/**
 * Creates, updates and deletes slices as planned. Creates none if the owner is terminating, because new slices would
 * delay its deletion.
 */
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
  await ignoreNotFound(client.delete(inDomainOf(vendor, kinds.EndpointSlice), nameOf(slice), { preconditions, signal }))
  writes.deleted(key, slice)
}

/** Maps each slice change to the key of its Service. `keyOf` returns the Service key of a slice. */
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
