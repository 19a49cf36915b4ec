/** A template cannot be read or filled; the message says what is wrong, and in which line and column. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** The error about the place `at` of the text. */
export function templateError(text: string, at: number, what: string): TemplateError {
  const before = text.slice(0, at).split('\n')
  return new TemplateError(`line ${before.length}, column ${before.at(-1)!.length + 1}: ${what}`)
}
