/** A stage cannot be read or applied. The message names the part and the reason. */
export class StageError extends Error {
  override readonly name = 'StageError'
}
