/** What `orch/client` exports in Node and in browsers alike. Whatever stands here is public: docs/client.md describes it. */

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
export {
  type Draft,
  type ObjectName,
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
export * from './kinds.ts'
