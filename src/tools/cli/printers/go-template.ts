/** Supports Go templates, including the two functions that kubectl adds. */

import { fillGoTemplate } from '../../../api/gotemplate/execute.ts'
import { elementOf, goFunctions, only, type TemplateFunctions, text } from '../../../api/gotemplate/functions.ts'
import { parseGoTemplate } from '../../../api/gotemplate/parse.ts'
import { TemplateError } from '../../../api/gotemplate/template-error.ts'
import type { Value } from '../../../api/gotemplate/values.ts'
import type { Json } from '../../../api/json/json.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import { textOfBytes } from './byte-text.ts'

const functions: TemplateFunctions = new Map([
  ...goFunctions,
  ['exists', (item: Value, ...keys: Value[]) => exists(item, keys)],
  ['base64decode', (...args: Value[]) => decoded(text(only(args), 'base64decode'))],
])

/**
 * Parses a template. Returns a function that formats a value. Both the parser and the returned function throw
 * UsageError.
 */
export function readGoTemplate(
  template: string,
): (value: Json, how: { readonly missingKeys: 'allow' | 'refuse' }) => string {
  const parsed = asUsageError(() => parseGoTemplate(template, functions))
  return (value, how) => asUsageError(() => fillGoTemplate(parsed, value, { ...how, functions }))
}

function asUsageError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof TemplateError) throw new UsageError(`go-template: ${error.message}`, { cause: error })
    throw error
  }
}

function exists(item: Value, keys: readonly Value[]): boolean {
  try {
    return keys.reduce(elementOf, item) !== undefined
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

function decoded(value: string): string {
  if (!/^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(value.replaceAll(/[\r\n]/g, '')))
    throw new TypeError('illegal base64 data')
  return textOfBytes(Buffer.from(value, 'base64'))
}
