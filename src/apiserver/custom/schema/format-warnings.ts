/** Warns about string formats that the emulated version does not know and therefore does not validate. */
import { isObject, type Json } from '../../../api/json/json.ts'
import type { DefinitionVersion } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { isSince, type RuleContext } from '../../../api/schema/context.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { isHint, knownFormat } from './formats.ts'

const maxWarnings = 5
const maxShown = 100

/** Returns the warnings for the schemas of a definition. Versions before Kubernetes 1.34 return no warnings. */
export function formatWarnings(versions: readonly DefinitionVersion[], context: RuleContext): string[] {
  if (!isSince('1.34', context)) return []
  const formats = versions.flatMap(({ schema }) => formatsIn(schema?.openAPIV3Schema))
  const unknown = [...new Set(formats)].filter(
    (format) => !isHint(format) && knownFormat(format, context) === undefined,
  )
  return unknown
    .slice(0, maxWarnings)
    .map((format) => `unrecognized format ${JSON.stringify(shorten(format, maxShown))}`)
}

/** Returns the `format` of a schema and of all schemas nested in it, in document order. */
function formatsIn(schema: Json | undefined): string[] {
  const formats: string[] = []
  const stack: (Json | undefined)[] = [schema]
  while (stack.length > 0) {
    const next = stack.pop()
    if (!isObject(next)) continue
    if (typeof next.format === 'string' && next.format !== '') formats.push(next.format)
    const { properties, items, additionalProperties } = next
    const members = isObject(properties) ? Object.values(properties) : []
    stack.push(additionalProperties, items, ...members.reverse())
  }
  return formats
}
