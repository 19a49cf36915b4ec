/**
 * What a failed call means in the words of the store contract: which error, and for a write whether it may have
 * happened. In doubt it may have: only an answer that rules it out makes the error unambiguous.
 */
import { messageOf } from '../../../base/text/errors.ts'
import { StoreError, StoreFull, ValueTooLarge } from '../store.ts'
import { CallError, status } from './grpc.ts'

/** etcd's own limit for a request unless its --max-request-bytes says otherwise. */
const requestLimit = 1_572_864

const compacted = 'etcdserver: mvcc: required revision has been compacted'
const future = 'etcdserver: mvcc: required revision is a future revision'
const noSpace = 'etcdserver: mvcc: database space exceeded'
const tooLarge = 'etcdserver: request is too large'
const noLease = 'etcdserver: requested lease not found'

/** Whether etcd no longer keeps the revision. */
export function isCompacted(error: unknown): boolean {
  return error instanceof CallError && error.code === status.outOfRange && error.message === compacted
}

/** Whether etcd has not reached the revision. */
export function isFuture(error: unknown): boolean {
  return error instanceof CallError && error.code === status.outOfRange && error.message === future
}

/** Whether etcd has no space left. */
export function isFull(error: unknown): boolean {
  return error instanceof CallError && error.code === status.resourceExhausted && error.message === noSpace
}

/** Said of a write with a lease that has ended: nothing was written. */
export function isLeaseGone(error: unknown): boolean {
  return error instanceof CallError && error.code === status.notFound && error.message === noLease
}

/** What a failed read becomes for the caller of the store. */
export function readFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(`etcd: ${messageOf(error)}`, { cause: error })
}

/** Of a write that touches no key, but a note or a lease: if it happened, nobody can tell. */
export function noteFailure(error: unknown): StoreError {
  return isFull(error)
    ? new StoreFull('etcd has no space left: writes are refused', { cause: error })
    : readFailure(error)
}

/** Of a write of `size` bytes. NOSPACE is left to the caller: etcd says it also after having written. */
export function writeFailure(error: unknown, size: number): StoreError {
  if (error instanceof StoreError) return error
  if (isTooLarge(error)) return new ValueTooLarge(size, requestLimit)
  if (isFull(error)) return new StoreFull(`etcd: ${messageOf(error)}`, { cause: error, ambiguous: true })
  return new StoreError(`etcd: ${messageOf(error)}`, { cause: error, ambiguous: mayHaveHappened(error) })
}

// The member's own limit, or that of its gRPC layer for a request larger still.
function isTooLarge(error: unknown): boolean {
  if (!(error instanceof CallError)) return false
  if (error.code === status.invalidArgument) return error.message === tooLarge
  return error.code === status.resourceExhausted && error.message.includes('message larger than max')
}

const refusals: readonly number[] = [
  status.invalidArgument,
  status.notFound,
  status.permissionDenied,
  status.failedPrecondition,
  status.outOfRange,
  status.unimplemented,
  status.unauthenticated,
]

function mayHaveHappened(error: unknown): boolean {
  if (!(error instanceof CallError)) return true
  if (!error.sent) return false
  if (error.code === undefined) return true
  if (error.message === 'etcdserver: no leader' || error.message === 'etcdserver: too many requests') return false
  return !refusals.includes(error.code)
}
