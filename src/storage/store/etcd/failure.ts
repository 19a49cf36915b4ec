/**
 * Converts failed calls to the errors of the store contract, and determines whether a failed write may have happened.
 * The error is ambiguous unless the response proves that the write did not happen.
 */
import { messageOf } from '../../../base/text/errors.ts'
import { StoreError, StoreFull, ValueTooLarge } from '../store.ts'
import { CallError, status } from './grpc.ts'

/** etcd's default request size limit (--max-request-bytes). */
const requestLimit = 1_572_864

const compacted = 'etcdserver: mvcc: required revision has been compacted'
const future = 'etcdserver: mvcc: required revision is a future revision'
const noSpace = 'etcdserver: mvcc: database space exceeded'
const tooLarge = 'etcdserver: request is too large'
const noLease = 'etcdserver: requested lease not found'

/** Whether etcd has compacted the revision. */
export function isCompacted(error: unknown): boolean {
  return error instanceof CallError && error.code === status.outOfRange && error.message === compacted
}

/** Whether etcd has not reached the revision yet. */
export function isFuture(error: unknown): boolean {
  return error instanceof CallError && error.code === status.outOfRange && error.message === future
}

/** Whether etcd has no space left. */
export function isFull(error: unknown): boolean {
  return error instanceof CallError && error.code === status.resourceExhausted && error.message === noSpace
}

/** Whether a write failed because its lease had expired. In that case, nothing was written. */
export function isLeaseGone(error: unknown): boolean {
  return error instanceof CallError && error.code === status.notFound && error.message === noLease
}

/** Returns the store error for a failed read. */
export function readFailure(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  return new StoreError(`etcd: ${messageOf(error)}`, { cause: error })
}

/**
 * Returns the store error for a failed write of a note or lease. The effect of such a write is invisible to callers, so
 * the error is never ambiguous.
 */
export function noteFailure(error: unknown): StoreError {
  return isFull(error)
    ? new StoreFull('etcd has no space left and rejects writes', { cause: error })
    : readFailure(error)
}

/**
 * Returns the store error for a failed write of `size` bytes. The caller handles NOSPACE, which etcd also returns after
 * a successful write.
 */
export function writeFailure(error: unknown, size: number): StoreError {
  if (error instanceof StoreError) return error
  if (isTooLarge(error)) return new ValueTooLarge(size, requestLimit)
  if (isFull(error)) return new StoreFull(`etcd: ${messageOf(error)}`, { cause: error, ambiguous: true })
  return new StoreError(`etcd: ${messageOf(error)}`, { cause: error, ambiguous: mayHaveHappened(error) })
}

// Whether the request exceeds the size limit of the member, or the larger limit of the member's gRPC layer.
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
