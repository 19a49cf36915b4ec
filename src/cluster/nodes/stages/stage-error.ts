/** Thrown if a stage cannot be read or applied. The message names the part of the stage and the reason. */
export class StageError extends Error {
  override readonly name = 'StageError'
}
