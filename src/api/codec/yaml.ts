/** Parses YAML from the bytes of a request body. `yaml-text.ts` parses the decoded text. */
import { isUtf8 } from 'node:buffer'
import { badRequest } from '../model/api-error.ts'
import type { ParsedJson } from './json.ts'
import { parseYamlText } from './yaml-text.ts'

/**
 * Parses a YAML document. `limit` is the maximum size of a body in bytes, which also limits the expansion of aliases.
 */
export function parseYaml(bytes: Buffer, limit: number): ParsedJson {
  if (!isUtf8(bytes)) throw badRequest('the body is not valid UTF-8')
  const text = bytes.toString('utf8')
  if (text.startsWith('\ufeff')) throw badRequest('the body begins with a byte order mark: remove it')
  return parseYamlText(text, limit)
}
