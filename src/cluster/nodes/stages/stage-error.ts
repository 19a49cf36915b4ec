/** A stage cannot be read or carried out; the message says which part of it and why. */
export class StageError extends Error {
  override readonly name = 'StageError'
}
