/**
 * Malformed bytes from outside. The message describes the error. Callers that read such bytes catch only this error,
 * because any other one is a bug.
 */
export class MalformedInput extends Error {
  override readonly name: string = 'UnsoundInput'
}
