/** What `orch/client` exports in Node and in browsers alike. Whatever stands here is public: see docs/client.md. */
export {
  type CallOptions,
  Client,
  type ClientOptions,
  type DeleteOptions,
  type List,
  type ListOptions,
  type ListPage,
  type Patch,
  type UpdateOptions,
  type WriteOptions,
} from '../client/client.ts'
export type { ObjectName, ResourceType, Selection } from '../client/resource-type.ts'
export { isConflict, isExpired, isInvalid, isNotFound, StatusError } from '../client/status-error.ts'
export { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../client/transport.ts'
export type { ApiObject, ObjectMeta } from '../model/object.ts'
