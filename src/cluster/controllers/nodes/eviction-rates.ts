/**
 * Limits how fast pods are evicted from nodes that are not ready. The default is one node every ten seconds in each
 * zone. If many nodes of a zone become unready at the same time, the zone itself is probably at fault. Pods are then
 * evicted more slowly from a large zone, and not at all from a small zone. If no node in any zone is ready, the
 * monitoring is probably at fault and nothing is evicted.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { readiness } from './node-taints.ts'

export interface EvictionRateOptions {
  /** Maximum eviction rate in a healthy zone, in nodes per second. */
  readonly rate: number
  /** Maximum eviction rate in a large unhealthy zone, in nodes per second. */
  readonly secondaryRate: number
  /** Fraction of unready nodes that makes a zone unhealthy. */
  readonly unhealthyShare: number
  /** Number of nodes above which a zone counts as large. */
  readonly largeSize: number
}

interface Zone {
  readonly ready: Set<string>
  readonly others: Set<string>
  /** Earliest time at which the pods of the zone's next node may be evicted. */
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

  /** Updates the state of a node in its zone. An undefined `node` means that it was deleted. */
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

  /** Whether no zone has a ready node. */
  get areAllDown(): boolean {
    return [...this.#zones.values()].every(({ ready }) => ready.size === 0)
  }

  /**
   * Returns the milliseconds until the pods of this node may be evicted. If they may be evicted now, returns 0 and
   * reserves the zone's next slot for them. Infinity means that eviction is paused.
   */
  takeMs(name: string): number {
    const zone = this.#zones.get(this.#zoneOf.get(name) ?? '')
    const rate = zone === undefined || this.areAllDown ? 0 : this.#rateOf(zone)
    if (zone === undefined || rate <= 0) return Number.POSITIVE_INFINITY
    const now = this.#clock.monotonic()
    if (now < zone.nextAt) return zone.nextAt - now
    zone.nextAt = now + 1000 / rate
    return 0
  }

  /**
   * Returns the eviction rate of a zone. A zone without ready nodes keeps the normal rate as long as another zone has a
   * ready node.
   */
  #rateOf({ ready, others }: Zone): number {
    const { rate, secondaryRate, unhealthyShare, largeSize } = this.#options
    const size = ready.size + others.size
    const isUnwell = ready.size > 0 && others.size > 2 && others.size / size >= unhealthyShare
    if (!isUnwell) return rate
    return size > largeSize ? secondaryRate : 0
  }
}
