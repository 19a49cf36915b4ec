/**
 * How fast nodes that are not ready may lose their pods, zone by zone: one node in ten seconds by default. Where many
 * nodes of a zone are not ready at once the fault is rather with the zone: fewer of a large one go, and none of a small
 * one. Where no node of any zone is ready, it is rather with whoever watches them, and none goes at all.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { readiness } from './node-taints.ts'

export interface EvictionRateOptions {
  /** Nodes per second of a zone that is well. */
  readonly rate: number
  /** The same for a large zone that is not. */
  readonly secondaryRate: number
  /** From which share of nodes that are not ready on a zone is not well. */
  readonly unhealthyShare: number
  /** A zone with more nodes than this is large. */
  readonly largeSize: number
}

interface Zone {
  readonly ready: Set<string>
  readonly others: Set<string>
  /** From when on the next node may go. */
  nextAt: number
}

export class EvictionRates {
  readonly #zones = new Map<string, Zone>()
  readonly #zoneOf = new Map<string, string>()
  readonly #options: EvictionRateOptions
  readonly #clock: Clock
  readonly #vendor: Vendor

  constructor(options: EvictionRateOptions, clock: Clock, vendor: Vendor) {
    this.#options = options
    this.#clock = clock
    this.#vendor = vendor
  }

  /** Takes in a node as it is; undefined: it is gone. */
  follow(name: string, node: Node | undefined): void {
    const before = this.#zones.get(this.#zoneOf.get(name) ?? '')
    before?.ready.delete(name)
    before?.others.delete(name)
    this.#zoneOf.delete(name)
    if (node === undefined) return
    const label = (key: string) => node.metadata.labels?.[vendorKey(this.#vendor, key, 'topology')] ?? ''
    const key = `${label('region')}/${label('zone')}`
    const zone = this.#zones.get(key) ?? { ready: new Set<string>(), others: new Set<string>(), nextAt: 0 }
    this.#zones.set(key, zone)
    this.#zoneOf.set(name, key)
    const isReady = readiness(node) === 'True'
    ;(isReady ? zone.ready : zone.others).add(name)
  }

  /** Whether no node of any zone is ready. */
  get areAllDown(): boolean {
    return [...this.#zones.values()].every(({ ready }) => ready.size === 0)
  }

  /** How long to wait until this node may go; 0: it may now, and this counts as one. Infinite: not as things are. */
  takeMs(name: string): number {
    const zone = this.#zones.get(this.#zoneOf.get(name) ?? '')
    const rate = zone === undefined || this.areAllDown ? 0 : this.#rateOf(zone)
    if (zone === undefined || rate <= 0) return Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    if (now < zone.nextAt) return zone.nextAt - now
    zone.nextAt = now + 1000 / rate
    return 0
  }

  /** A zone of which no node is ready is emptied at the usual rate, as long as there is another one. */
  #rateOf({ ready, others }: Zone): number {
    const { rate, secondaryRate, unhealthyShare, largeSize } = this.#options
    const size = ready.size + others.size
    const isUnwell = ready.size > 0 && others.size > 2 && others.size / size >= unhealthyShare
    if (!isUnwell) return rate
    return size > largeSize ? secondaryRate : 0
  }
}
