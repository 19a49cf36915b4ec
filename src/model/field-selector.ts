/**
 * Field selectors: `metadata.name=a,type!=b`. Which fields a kind can be selected by is the kind's to say.
 * A comma, `=` or backslash in a value is written with a backslash before it.
 */
import { shorten } from '../base/shorten.ts'
import { badRequest } from './api-error.ts'

export interface FieldRequirement {
  readonly path: string
  readonly equal: boolean
  readonly value: string
}

const maxLength = 64 * 1024

export function parseFieldSelector(text: string): FieldRequirement[] {
  if (text.length > maxLength) throw badRequest(`the field selector is longer than ${maxLength} characters`)
  return splitTerms(text)
    .filter((term) => term !== '')
    .map(parseTerm)
}

function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  return [...terms, text.slice(start)]
}

function parseTerm(term: string): FieldRequirement {
  for (let i = 0; i < term.length; i++) {
    const operator = ['!=', '==', '='].find((candidate) => term.startsWith(candidate, i))
    if (operator === undefined) continue
    return { path: term.slice(0, i), equal: operator !== '!=', value: unescaped(term.slice(i + operator.length), term) }
  }
  throw badRequest(
    `invalid field selector ${JSON.stringify(shorten(term, 100))}: expected <field>=<value> or <field>!=<value>`,
  )
}

function unescaped(value: string, term: string): string {
  let text = ''
  for (let i = 0; i < value.length; i++) {
    const unit = value[i]!
    if (unit === '\\') {
      const next = value[++i]
      if (next === undefined || !'\\,='.includes(next))
        throw badRequest(
          `invalid field selector ${JSON.stringify(shorten(term, 100))}: a backslash must precede ',', '=' or '\\'`,
        )
      text += next
    } else if (unit === '=') {
      throw badRequest(`invalid field selector ${JSON.stringify(shorten(term, 100))}: '=' in a value is written '\\='`)
    } else {
      text += unit
    }
  }
  return text
}

export function matchesFields(
  requirements: readonly FieldRequirement[],
  fieldValue: (path: string) => string | undefined,
): boolean {
  return requirements.every(({ path, equal, value }) => ((fieldValue(path) ?? '') === value) === equal)
}
