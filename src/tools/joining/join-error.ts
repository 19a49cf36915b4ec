/** Joining a cluster or creating a token failed. The message gives the reason in one line. */
export class JoinError extends Error {
  override readonly name = 'JoinError'
}
