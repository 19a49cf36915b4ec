/** An error in a template, found by the parser or during execution. The message contains the line and column. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** Returns an error at this offset of the text. */
export function templateError(text: string, at: number, what: string): TemplateError {
  const before = text.slice(0, at).split('\n')
  return new TemplateError(`line ${before.length}, column ${before.at(-1)!.length + 1}: ${what}`)
}
