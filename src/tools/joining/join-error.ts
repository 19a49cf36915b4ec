/** Thrown if joining a cluster or creating a token fails. The message gives the reason in one line. */
export class JoinError extends Error {
  override readonly name = 'JoinError'
}
