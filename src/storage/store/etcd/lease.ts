/**
 * Lifetimes as leases of etcd, which deletes a key when its lease ends. Each write has a lease of its own: keys that
 * share one are deleted at one revision, and a watch that is resumed between the two deletions would lose the second.
 * A lease whose write lost its race, or whose key was written again, holds nothing and ends by itself.
 */
import type { Connection } from './connection.ts'
import { isLeaseGone, noteFailure } from './failure.ts'
import { decodeLeaseGrant, encodeLeaseGrant, methods } from './messages.ts'

/** What a write with a lease is given; it must be done by the deadline (on the monotonic clock). */
export type LeasedWrite<T> = (lease: bigint, deadline: number) => Promise<T>

const attempts = 3

/**
 * Runs a write with a lease of `seconds`, which count from now. A write that comes too late for its lease has not
 * happened and is tried again with another. All of it ends by one deadline.
 */
export async function withLease<T>(connection: Connection, seconds: number, write: LeasedWrite<T>): Promise<T> {
  const deadline = performance.now() + connection.deadlineMs
  for (let attempt = 1; ; attempt++) {
    const lease = await grant(connection, seconds, deadline)
    try {
      return await write(lease, deadline)
    } catch (error) {
      if (attempt === attempts || !isLeaseGone(error)) throw error
    }
  }
}

async function grant(connection: Connection, seconds: number, deadline: number): Promise<bigint> {
  const request = encodeLeaseGrant(seconds)
  try {
    // May be repeated like a read: a lease too many ends by itself.
    return decodeLeaseGrant(await connection.call(methods.grantLease, request, { effect: 'read', deadline }))
  } catch (error) {
    throw noteFailure(error)
  }
}
