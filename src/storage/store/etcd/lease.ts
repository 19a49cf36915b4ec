/**
 * Implements lifetimes with etcd leases: etcd deletes a key when its lease expires. Each write has a separate lease. If
 * keys shared a lease, etcd would delete them at the same revision, and a watch that resumed between two of these
 * deletions would miss the second one. If a write fails because another write came first, or if its key is written
 * again, the lease no longer has a key and simply expires.
 */
import type { Connection } from './connection.ts'
import { isLeaseGone, noteFailure } from './failure.ts'
import { decodeLeaseGrant, encodeLeaseGrant, methods } from './messages.ts'

/** A write with a lease. The write must finish by the deadline, which is on the monotonic clock. */
export type LeasedWrite<T> = (lease: bigint, deadline: number) => Promise<T>

const attempts = 3

/**
 * Runs a write with a lease of `seconds`, counted from the call. If the lease expires before the write, nothing is
 * written and the write is retried with a new lease. One deadline covers all attempts.
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
    // The request for a lease can be repeated like a read, because an additional lease simply expires.
    return decodeLeaseGrant(await connection.call(methods.grantLease, request, { effect: 'read', deadline }))
  } catch (error) {
    throw noteFailure(error)
  }
}
