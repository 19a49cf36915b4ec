/** A client cannot join, or a token cannot be made, and the message says why in one line. */
export class JoinError extends Error {
  override readonly name = 'JoinError'
}
