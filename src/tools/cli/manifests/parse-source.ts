/** Parses the documents of a YAML or JSON text. Errors name the document, the line and the column. */

import type { Json } from '../../../api/json/json.ts'
import { ApiError } from '../../../api/model/api-error.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Source } from './source.ts'

/** Maximum size of one document in bytes, including expanded references. */
const maxDocumentBytes = 64 * 1024 * 1024

/** Parses the documents of a text. Throws UsageError with the position of the error. */
export async function parseSource(source: Source): Promise<Json[]> {
  const { parseYamlDocuments } = await import('../../../api/codec/yaml-text.ts')
  try {
    const documents = parseYamlDocuments(source.text, maxDocumentBytes)
    for (const { duplicates } of documents)
      if (duplicates.length > 0) throw new UsageError(`${source.name}: duplicate field ${duplicates[0]}`)
    return documents.map(({ value }) => value)
  } catch (error) {
    if (error instanceof ApiError) throw await yamlError(source, error)
    throw error
  }
}

/** Converts a YAML or JSON parse error to an error with the position that the parser reports. */
async function yamlError({ name, text }: Source, error: ApiError): Promise<UsageError> {
  const { YAMLException } = await import('js-yaml')
  const { cause } = error
  if (!(cause instanceof YAMLException) || cause.mark === undefined)
    return new UsageError(`${name}: ${error.message.replace('the body', 'it')}`)
  const { line, column } = cause.mark!
  const before = text.split('\n').slice(0, line)
  const firstLine = text.split('\n').find((line) => !/^\s*(?:#|$)/.test(line))
  const number = before.filter((text) => /^---(?:\s|$)/.test(text)).length + (firstLine?.startsWith('---') ? 0 : 1)
  const which = /^---/m.test(text) ? `document ${Math.max(1, number)}, ` : ''
  return new UsageError(`${name}: ${which}line ${line + 1}, column ${column + 1}: ${cause.reason}`)
}
