/**
 * The exports of `orch/client` for both Node.js and browsers. All of them are public and documented in
 * docs/reference/client.md.
 */

export type { Status, StatusDetails } from '../../api/model/api-error.ts'
export type { ApiObject, ObjectBase, ObjectMeta, OwnerReference } from '../../api/model/object.ts'
export type { Backoff } from '../../base/concurrency/backoff.ts'
export type { RateLimit } from '../../base/limits/token-bucket.ts'
export { changeObject } from '../informers/change-object.ts'
export { EventRecorder, type EventRecorderOptions, type Happening } from '../informers/event-recorder.ts'
export type { ChangeHandler, Informer, ObjectChange } from '../informers/informer.ts'
export { Informers, type InformersOptions } from '../informers/informers.ts'
export {
  type ElectionOptions,
  type ElectionTiming,
  leadOnce,
  type Term,
  withinTerm,
} from '../informers/leader-election.ts'
export type { Index, IndexFunction } from '../informers/object-index.ts'
export { type StepOutcome, WorkQueue, type WorkQueueOptions } from '../reconcile/work-queue.ts'
export * from '../requests/built-in-kinds.ts'
export {
  type ApplyOptions,
  type CallOptions,
  Client,
  type Deleted,
  type DeleteOptions,
  type GetOptions,
  type List,
  type ListOptions,
  type ListPage,
  type PagesOptions,
  type Patch,
  type UpdateOptions,
  type WriteOptions,
} from '../requests/client.ts'
export {
  type Draft,
  nameOfKey,
  type ObjectName,
  objectKey,
  type ResourceType,
  type Selection,
  subresource,
} from '../requests/resource-type.ts'
export type { FollowOptions as WatchOptions } from '../requests/resume-watch.ts'
export { isConflict, isExpired, isInvalid, isNotFound, StatusError } from '../requests/status-error.ts'
export { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../requests/transport.ts'
export type { WatchEvent } from '../requests/watch.ts'
