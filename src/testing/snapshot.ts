/** Defines the snapshot of a test server's state. */
import type { ProfileName } from '../api/model/vendor.ts'

/** The state of a test server at one point in time. It can be used repeatedly, and also by other servers. */
export interface Snapshot {
  /** Profile of the server. The stored objects contain the names that the profile defines. */
  readonly profile: ProfileName
  /** resourceVersion at which the snapshot was taken. */
  readonly revision: number
}
