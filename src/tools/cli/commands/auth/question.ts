/** Parses a question about an action from the words `VERB TYPE[.GROUP][/SUBRESOURCE] [NAME]` or `VERB /PATH`. */

import type { JsonObject } from '../../../../api/json/json.ts'
import { UsageError } from '../../../../base/flags/flags.ts'

/** Parses the words into the attributes of an access review. Throws UsageError. */
export function readQuestion(words: readonly string[], namespace: string): JsonObject {
  if (words.length < 2 || words.length > 3) throw new UsageError('specify a verb and a resource or path')
  const [verb = '', what = '', name = ''] = words
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } }
  const [type = '', subresource = ''] = what.split('/')
  const [resource = '', ...group] = type.split('.')
  return { resourceAttributes: { verb, group: group.join('.'), resource, subresource, name, namespace } }
}
