/**
 * Binding conditions: conditions that a driver sets on an allocated device when the device is ready for Pods. A Pod is
 * bound only after all of these conditions are true. If the preparation of a device fails, the claim is deallocated and
 * the Pod is scheduled again.
 */
import type { ResourceClaim } from '../../../api/kinds/resource/resource-claim.ts'
import { changeObject } from '../../../client/informers/change-object.ts'
import { nameOf, objectKey } from '../../../client/requests/resource-type.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { ObjectWaiters, type WaitState } from '../object-waiters.ts'
import { type Allocation, idOf } from './device.ts'
import type { Inventory } from './inventory.ts'
import type { DeviceWriteParts } from './pod-devices.ts'

type Status = NonNullable<ResourceClaim['status']>

/** Maximum time, in milliseconds, for the devices of a claim to become ready after their allocation. */
const timeoutMs = 10 * 60_000

/** Makes a Pod wait until its devices are ready. */
export class DeviceWaiters {
  readonly #inventory: Inventory
  readonly #waiters = new ObjectWaiters()

  constructor(inventory: Inventory) {
    this.#inventory = inventory
  }

  /** Notifies the Pods that wait for a changed claim. */
  notice(key: string): void {
    this.#waiters.notice(key)
  }

  /**
   * Waits until the devices are ready. Resolves with undefined if all devices are ready, or with the reason why a
   * device will never be ready.
   */
  async wait(
    claims: readonly ResourceClaim[],
    { now, signal }: { readonly now: number; readonly signal: AbortSignal },
  ): Promise<string | undefined> {
    const allocatedAt = claims.map((claim) => Date.parse(this.#allocationOf(claim)?.allocationTimestamp ?? ''))
    const deadline = Math.min(...allocatedAt.filter(Number.isFinite), now) + timeoutMs
    const states = () => claims.map((claim) => this.#stateOf(claim))
    return await this.#waiters.wait(claims.map(objectKey), states, { timeoutMs: Math.max(0, deadline - now), signal })
  }

  #stateOf(claim: ResourceClaim): WaitState {
    const { namespace = '', name = '', uid } = claim.metadata
    const current = this.#inventory.claim(namespace, name)
    if (current === undefined || current.metadata.uid !== uid) return { why: `resourceclaim "${name}" not found` }
    const allocation = this.#allocationOf(claim)
    if (allocation === undefined) return { why: `resourceclaim "${name}" was deallocated` }
    return readiness(name, allocation, current.status?.devices)
  }

  #allocationOf({ metadata: { namespace = '', name = '' } }: ResourceClaim): Allocation | undefined {
    const current = this.#inventory.claim(namespace, name)
    return current && this.#inventory.allocationOf(current)
  }
}

function readiness(claim: string, { devices }: Allocation, statuses: Status['devices'] = []): WaitState {
  let state: WaitState = 'ready'
  for (const result of devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [], shareID } = result
    if (bindingConditions.length === 0) continue
    const status = statuses.find((each) => idOf(each) === idOf(result) && each.shareID === shareID)
    const conditions = (status?.conditions ?? []).filter(({ status }) => status === 'True')
    const failure = conditions.find(({ type = '' }) => bindingFailureConditions.includes(type))
    if (failure !== undefined) {
      const { type, reason, message } = failure
      return { why: `device ${result.device} of claim "${claim}": ${type}, reason ${reason}: ${message}` }
    }
    if (!bindingConditions.every((name) => conditions.some(({ type }) => type === name))) state = 'waiting'
  }
  return state
}

/**
 * Returns the status of a claim after removing the consumers with these UIDs. If no consumer remains, also removes the
 * allocation.
 */
export function withoutConsumers(
  { reservedFor = [], allocation, devices, ...others }: Status,
  uids: ReadonlySet<string | undefined>,
): Status {
  const remaining = reservedFor.filter(({ uid }) => !uids.has(uid))
  if (remaining.length === 0) return others
  return {
    ...others,
    ...(allocation === undefined ? {} : { allocation }),
    ...(devices === undefined ? {} : { devices }),
    reservedFor: remaining,
  }
}

/** Removes a Pod's reservations, and the allocations of claims that no other Pod uses. */
export async function releaseClaims(
  { client, type, signal }: DeviceWriteParts,
  claims: readonly ResourceClaim[],
  podUid: string,
): Promise<void> {
  for (const claim of claims) {
    const change = (object: ResourceClaim): ResourceClaim | undefined => {
      const { reservedFor = [] } = object.status ?? {}
      const isReserved = object.metadata.uid === claim.metadata.uid && reservedFor.some(({ uid }) => uid === podUid)
      return isReserved ? { ...object, status: withoutConsumers(object.status ?? {}, new Set([podUid])) } : undefined
    }
    try {
      await changeObject(client, type, { name: nameOf(claim), subresource: 'status', change, signal })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
