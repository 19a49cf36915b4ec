/** Go templates as kubectl fills them: with two functions of its own. */
import { UsageError } from '../../base/flags.ts'
import { fillGoTemplate } from '../../gotemplate/execute.ts'
import { elementOf, goFunctions, only, type TemplateFunctions, text } from '../../gotemplate/functions.ts'
import { parseGoTemplate } from '../../gotemplate/parse.ts'
import { TemplateError } from '../../gotemplate/template-error.ts'
import type { Value } from '../../gotemplate/values.ts'
import type { Json } from '../../model/json.ts'
import { textOfBytes } from './byte-text.ts'

const functions: TemplateFunctions = new Map([
  ...goFunctions,
  ['exists', (item: Value, ...keys: Value[]) => exists(item, keys)],
  ['base64decode', (...args: Value[]) => decoded(text(only(args), 'base64decode'))],
])

/** Makes text of a value. Throws UsageError, as what it returns does. */
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
