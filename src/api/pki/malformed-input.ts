/**
 * An error for malformed bytes from an external source. The message describes the problem. Callers that parse such
 * bytes catch only this error, because any other error is a bug.
 */
export class MalformedInput extends Error {
  override readonly name: string = 'UnsoundInput'
}
