/** A client cannot join or a token cannot be created. The message explains why in one line. */
export class JoinError extends Error {
  override readonly name = 'JoinError'
}
