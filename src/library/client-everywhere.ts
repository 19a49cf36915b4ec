/** What `orch/client` exports in Node and in browsers alike. Whatever stands here is public: docs/client.md describes it. */

export type { Backoff } from '../base/backoff.ts'
export { changeObject } from '../client/change-object.ts'
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
} from '../client/client.ts'
export { EventRecorder, type EventRecorderOptions, type Happening } from '../client/event-recorder.ts'
export type { ChangeHandler, Informer, ObjectChange } from '../client/informer.ts'
export { Informers, type InformersOptions } from '../client/informers.ts'
export {
  type ElectionOptions,
  type ElectionTiming,
  leadOnce,
  type Term,
  withinTerm,
} from '../client/leader-election.ts'
export type { Index, IndexFunction } from '../client/object-index.ts'
export {
  type Draft,
  nameOfKey,
  type ObjectName,
  objectKey,
  type ResourceType,
  type Selection,
  subresource,
} from '../client/resource-type.ts'
export type { FollowOptions as WatchOptions } from '../client/resume-watch.ts'
export { isConflict, isExpired, isInvalid, isNotFound, StatusError } from '../client/status-error.ts'
export { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../client/transport.ts'
export type { WatchEvent } from '../client/watch.ts'
export type { Status, StatusDetails } from '../model/api-error.ts'
export type { ApiObject, ObjectBase, ObjectMeta, OwnerReference } from '../model/object.ts'
export type { RateLimit } from '../reconcile/rate-limit.ts'
export { type StepOutcome, WorkQueue, type WorkQueueOptions } from '../reconcile/work-queue.ts'
export * from './kinds.ts'
