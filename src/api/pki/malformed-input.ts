/**
 * Bytes from outside that are not what they are said to be. The message says what is wrong; whoever reads such bytes
 * catches this and nothing else, as any other error is a bug.
 */
export class MalformedInput extends Error {
  override readonly name: string = 'UnsoundInput'
}
