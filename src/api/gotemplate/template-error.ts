/** Thrown if a template is invalid or its execution fails. The message contains the line and the column. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

/** Creates an error for a position in a template. `at` is the offset in the template. */
export function templateError(text: string, at: number, what: string): TemplateError {
  const before = text.slice(0, at).split('\n')
  return new TemplateError(`line ${before.length}, column ${before.at(-1)!.length + 1}: ${what}`)
}
