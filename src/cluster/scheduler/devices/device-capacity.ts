/**
 * Computes how much of a device's capacity an allocation consumes. Only devices that allow multiple allocations share
 * their capacity. An allocation of any other device requires the requested capacity and occupies the whole device.
 */
import { parseQuantity, type Quantity } from '../../../api/model/quantity.ts'
import type { Device } from './device.ts'

type DeviceFields = Device['device']
type Capacity = NonNullable<DeviceFields['capacity']>[string]
type RequestPolicy = NonNullable<Capacity['requestPolicy']>

/** The consumed amount of each capacity. */
export type Consumption = ReadonlyMap<string, Quantity>

/** Whether several requests can use the device at the same time. */
export function isShared({ allowMultipleAllocations }: DeviceFields): boolean {
  return allowMultipleAllocations === true
}

/**
 * Returns the amounts that an allocation consumes, or undefined if the device never has the requested amounts. If a
 * shared device has a capacity that is not requested, an allocation consumes the default amount of the request policy
 * or, if there is no default, the whole capacity.
 */
export function consumedCapacity(
  device: DeviceFields,
  requests: { readonly [name: string]: string },
): Consumption | undefined {
  const { capacity = {} } = device
  if (Object.keys(requests).some((name) => !Object.hasOwn(capacity, name))) return undefined
  const consumed = new Map<string, Quantity>()
  for (const name of Object.keys(isShared(device) ? capacity : requests)) {
    const { value = '0', requestPolicy } = capacity[name]!
    const { nanos: total, form } = quantityOf(value)
    const amount = Object.hasOwn(requests, name)
      ? allowedAmount(nanosOf(requests[name]), requestPolicy)
      : nanosOf(requestPolicy?.default ?? value)
    if (amount === undefined || amount > total) return undefined
    consumed.set(name, { nanos: amount, form })
  }
  return consumed
}

/** Rounds a requested amount up to an amount that the policy allows. Returns undefined if there is no such amount. */
function allowedAmount(requested: bigint, { validValues = [], validRange }: RequestPolicy = {}): bigint | undefined {
  if (validValues.length > 0) return validValues.map(nanosOf).find((value) => value >= requested)
  if (validRange === undefined) return requested
  const min = nanosOf(validRange.min)
  const step = validRange.step === undefined ? 0n : nanosOf(validRange.step)
  const excess = requested > min ? requested - min : 0n
  const amount = min + (step === 0n ? excess : ((excess + step - 1n) / step) * step)
  return validRange.max !== undefined && amount > nanosOf(validRange.max) ? undefined : amount
}

/** Returns an amount in billionths. The API server has validated the text. */
export function nanosOf(text = '0'): bigint {
  return quantityOf(text).nanos
}

function quantityOf(text: string): Quantity {
  return parseQuantity(text) ?? { nanos: 0n, form: 'decimal' }
}
