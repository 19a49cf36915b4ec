/** Formats the output of `orchctl explain` like kubectl: kind, version, description and fields. */

import { type JsonObject, own } from '../../../../api/json/json.ts'
import { closestMatch, UsageError } from '../../../../base/flags/flags.ts'
import type { DiscoveredType } from '../../../../client/requests/discovery.ts'
import type { Definitions } from './definitions.ts'

export interface Question {
  readonly type: DiscoveredType
  /** Path to the field. The path is empty for the type itself. */
  readonly fields: readonly string[]
  readonly recursive: boolean
}

const width = 80

export function explanation(definitions: Definitions, { type, fields, recursive }: Question): string {
  const whole = definitions.ofType(type)
  if (whole === undefined) throw new UsageError(`the server has no description of ${JSON.stringify(type.kind)}`)
  const schema = fields.reduce((inner, field) => fieldOf(definitions, inner, field), whole)
  const inner = definitions.fieldsOf(schema)
  const version = type.group === '' ? type.version : `${type.group}/${type.version}`
  return [
    `KIND:     ${type.kind}\nVERSION:  ${version}\n\n`,
    fields.length === 0
      ? ''
      : `${inner.length > 0 ? 'RESOURCE:' : 'FIELD:   '} ${fields.at(-1)} <${definitions.typeName(schema)}>\n\n`,
    `DESCRIPTION:\n${description(definitions, schema, { both: inner.length > 0 })}\n`,
    inner.length === 0 ? '' : `\nFIELDS:\n${recursive ? tree(definitions, schema, []) : listed(definitions, schema)}`,
  ].join('')
}

function fieldOf(definitions: Definitions, schema: JsonObject, name: string): JsonObject {
  const fields = definitions.fieldsOf(schema)
  const matchingField = fields.find(([field]) => field === name)
  if (matchingField !== undefined) return matchingField[1]
  const near = closestMatch(
    name,
    fields.map(([field]) => field),
  )
  throw new UsageError(
    `field ${JSON.stringify(name)} does not exist${near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`}`,
  )
}

/** Combines the description of a field with the description of its type. */
function description(definitions: Definitions, schema: JsonObject, { both }: { both: boolean }): string {
  const resolved = definitions.resolved(schema)
  const own = textAt(schema, 'description') || textAt(resolved, 'outer')
  const inner = textAt(definitions.element(schema), 'inner') || textAt(definitions.element(schema), 'description')
  const texts = [own, ...(both && inner !== own ? [inner] : [])].filter((text) => text !== '')
  const paragraphs = texts.length === 0 ? [inner === '' ? '<empty>' : inner] : texts
  return paragraphs.map((text) => indented(text, 5)).join('\n\n')
}

function textAt(schema: JsonObject, field: string): string {
  const text = own(schema, field)
  return typeof text === 'string' ? text : ''
}

function listed(definitions: Definitions, schema: JsonObject): string {
  return definitions
    .fieldsOf(schema)
    .map(([name, field]) => {
      const required = definitions.isRequired(schema, name) ? ' -required-' : ''
      const text = textAt(field, 'description') || textAt(definitions.resolved(field), 'description')
      return `   ${name}\t<${definitions.typeName(field)}>${required}\n${text === '' ? `     <no description>` : indented(text, 5)}\n\n`
    })
    .join('')
}

const deepest = 40

/** Lists all fields recursively. Does not expand a type inside itself, so that the recursion ends. */
function tree(definitions: Definitions, schema: JsonObject, outer: readonly JsonObject[]): string {
  const element = definitions.element(schema)
  if (outer.length > deepest || outer.some((other) => own(other, 'properties') === own(element, 'properties')))
    return ''
  return definitions
    .fieldsOf(schema)
    .map(
      ([name, field]) =>
        `${'   '.repeat(outer.length + 1)}${name}\t<${definitions.typeName(field)}>\n${tree(definitions, field, [...outer, element])}`,
    )
    .join('')
}

/** Wraps text. Keeps empty and indented lines unchanged. */
function indented(text: string, indent: number): string {
  const lines: string[] = []
  let line = ''
  const flush = () => {
    if (line !== '') lines.push(line)
    line = ''
  }
  for (const part of text.split('\n')) {
    if (part.startsWith('    ') || (lines.length > 0 && part.trim() === '')) {
      flush()
      lines.push(part.trimEnd())
      continue
    }
    for (const word of part.split(/\s+/).filter((word) => word !== '')) {
      if (line !== '' && line.length + word.length + 1 > width - indent) flush()
      line = line === '' ? word : `${line} ${word}`
    }
  }
  flush()
  return lines.map((each) => (each === '' ? '' : `${' '.repeat(indent)}${each}`)).join('\n')
}
