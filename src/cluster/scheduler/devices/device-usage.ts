/**
 * Tracks the use of devices during one search: which devices are free, how much capacity remains on shared devices, and
 * how much remains of the counters that the devices of a pool share. Counts both the existing allocations and the
 * devices that the search has chosen so far.
 */
import type { Budget } from '../../../api/cel/budget.ts'
import { type Device, poolOf } from './device.ts'
import { type Consumption, consumedCapacity, isShared, nanosOf } from './device-capacity.ts'
import type { Inventory } from './inventory.ts'

/** Amounts in billionths, by name. */
type Amounts = Map<string, bigint>

/** Cost charged to the budget for reading one device of a pool. */
const stepsPerDevice = 5

export class DeviceUsage {
  readonly #inventory: Inventory
  readonly #budget: Budget
  /** How often the search has chosen each device. */
  readonly #choices = new Map<Device, number>()
  /** Remaining capacities of shared devices. */
  readonly #capacities = new Map<Device, Amounts>()
  /** Remaining counters of pools. */
  readonly #counters = new Map<string, Amounts>()

  constructor(inventory: Inventory, budget: Budget) {
    this.#inventory = inventory
    this.#budget = budget
  }

  /**
   * Returns the capacity that an allocation with these requested capacities would consume, or undefined if the device
   * cannot be allocated now.
   */
  consumptionOf(device: Device, requests: { readonly [name: string]: string } = {}): Consumption | undefined {
    const consumed = consumedCapacity(device.device, requests)
    if (consumed === undefined) return undefined
    if (isShared(device.device) ? !this.#hasCapacity(device, consumed) : this.#isUsed(device)) return undefined
    return this.#hasCounters(device) ? consumed : undefined
  }

  /** Counts a device as allocated for the rest of the search, or until it is released. */
  take(device: Device, consumed: Consumption): void {
    if (!this.#isUsed(device)) this.#consumeCounters(device, -1n)
    this.#choices.set(device, (this.#choices.get(device) ?? 0) + 1)
    if (isShared(device.device)) this.#consumeCapacity(device, consumed, -1n)
  }

  /** Reverts `take`. */
  release(device: Device, consumed: Consumption): void {
    if (isShared(device.device)) this.#consumeCapacity(device, consumed, 1n)
    const choices = this.#choices.get(device) ?? 0
    if (choices > 1) this.#choices.set(device, choices - 1)
    else this.#choices.delete(device)
    if (!this.#isUsed(device)) this.#consumeCounters(device, 1n)
  }

  #isUsed(device: Device): boolean {
    return this.#choices.has(device) || this.#inventory.isAllocated(device)
  }

  #hasCapacity(device: Device, consumed: Consumption): boolean {
    const remaining = this.#capacityOf(device)
    return (
      remaining !== undefined && consumed.entries().every(([name, { nanos }]) => (remaining.get(name) ?? 0n) >= nanos)
    )
  }

  /** Returns the remaining capacity of a shared device, or undefined if an allocation occupies the whole device. */
  #capacityOf(device: Device): Amounts | undefined {
    const known = this.#capacities.get(device)
    if (known !== undefined) return known
    const allocations = this.#inventory.allocationsOf(device)
    if (allocations.some(({ shareID }) => shareID === undefined)) return undefined
    const remaining: Amounts = new Map(
      Object.entries(device.device.capacity ?? {}).map(([name, { value }]) => [name, nanosOf(value)]),
    )
    for (const { consumedCapacity: amounts = {} } of allocations)
      for (const [name, amount] of Object.entries(amounts)) addTo(remaining, name, -nanosOf(amount))
    this.#capacities.set(device, remaining)
    return remaining
  }

  #consumeCapacity(device: Device, consumed: Consumption, sign: 1n | -1n): void {
    const remaining = this.#capacityOf(device)!
    for (const [name, { nanos }] of consumed) addTo(remaining, name, sign * nanos)
  }

  /**
   * Whether the remaining counters are sufficient. A device that is already allocated to another request has already
   * consumed its counters.
   */
  #hasCounters(device: Device): boolean {
    const consumed = countersOf(device)
    if (consumed.length === 0 || this.#isUsed(device)) return true
    const remaining = this.#remainingCounters(device)
    return consumed.every(([name, amount]) => (remaining.get(name) ?? -1n) >= amount)
  }

  #consumeCounters(device: Device, sign: 1n | -1n): void {
    const consumed = countersOf(device)
    if (consumed.length === 0) return
    const remaining = this.#remainingCounters(device)
    for (const [name, amount] of consumed) addTo(remaining, name, sign * amount)
  }

  /** Returns the counters of the device's pool that remain after all existing allocations. */
  #remainingCounters(device: Device): Amounts {
    const pool = poolOf(device)
    const known = this.#counters.get(pool)
    if (known !== undefined) return known
    const { sets, devices } = this.#inventory.pool(pool)
    this.#budget.work(devices.length * stepsPerDevice)
    const remaining: Amounts = new Map(
      sets.flatMap(({ name: set = '', counters = {} }) =>
        Object.entries(counters).map(([name, { value }]) => [counterName(set, name), nanosOf(value)] as const),
      ),
    )
    for (const other of devices)
      if (this.#inventory.isAllocated(other))
        for (const [name, amount] of countersOf(other)) addTo(remaining, name, -amount)
    this.#counters.set(pool, remaining)
    return remaining
  }
}

/** Changes the amount with the given name. Ignores names of capacities and counters that no longer exist. */
function addTo(amounts: Amounts, name: string, change: bigint): void {
  const amount = amounts.get(name)
  if (amount !== undefined) amounts.set(name, amount + change)
}

/** Returns the amounts that a device consumes from the counters of its pool. */
function countersOf({ device: { consumesCounters = [] } }: Device): (readonly [name: string, amount: bigint])[] {
  return consumesCounters.flatMap(({ counterSet = '', counters = {} }) =>
    Object.entries(counters).map(([name, { value }]) => [counterName(counterSet, name), nanosOf(value)] as const),
  )
}

function counterName(set: string, name: string): string {
  return `${set}/${name}`
}
