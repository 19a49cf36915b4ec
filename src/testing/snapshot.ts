/** A moment in the life of a test server, as a test holds it. */
import type { ProfileName } from '../api/model/vendor.ts'

/** The state of a test server at a moment. It can be used any number of times, and by other servers. */
export interface Snapshot {
  /** The profile of the server that it was taken of: its names are part of the state. */
  readonly profile: ProfileName
  /** The `resourceVersion` up to which it holds everything. */
  readonly revision: number
}
