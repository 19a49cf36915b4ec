/** A mistake in a Go template, with the line and column where it stands. */
import { UsageError } from '../../base/flags.ts'

/** The error about the place `at` of the text. */
export function templateFault(text: string, at: number, what: string): UsageError {
  const before = text.slice(0, at).split('\n')
  return new UsageError(`go-template: line ${before.length}, column ${before.at(-1)!.length + 1}: ${what}`)
}
