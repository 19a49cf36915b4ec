/**
 * Field selectors, such as `metadata.name=a,type!=b`. Each kind defines its selectable fields. A backslash escapes a
 * comma, `=` or backslash in a value. `FieldMatcher` is a selector prepared for matching many objects. The cost per
 * object is one lookup for each selected field.
 */
import { shorten } from '../../base/text/shorten.ts'
import { badRequest } from '../model/api-error.ts'

/** One requirement of a field selector, such as `type!=b`. */
export interface FieldRequirement {
  readonly path: string
  readonly equal: boolean
  readonly value: string
}

const maxLength = 64 * 1024
const maxRequirements = 1000

/** Returns the requirements of a selector, in order. Throws error 400 if the selector is invalid. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  if (text.length > maxLength) throw badRequest(`the field selector is longer than ${maxLength} characters`)
  const terms = splitTerms(text).filter((term) => term !== '')
  if (terms.length > maxRequirements)
    throw badRequest(`the field selector has ${terms.length} requirements, but at most ${maxRequirements} are allowed`)
  return terms.map(parseTerm)
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
      throw badRequest(`invalid field selector ${JSON.stringify(shorten(term, 100))}: escape '=' in a value as '\\='`)
    } else {
      text += unit
    }
  }
  return text
}

/** All requirements for one field. */
interface Demand {
  /** Values that the field must equal. If there is more than one, nothing matches. */
  readonly equal: ReadonlySet<string>
  readonly unequal: ReadonlySet<string>
}

/** Matches objects against a field selector. */
export class FieldMatcher {
  readonly #demands: readonly (readonly [path: string, demand: Demand])[]

  constructor(requirements: readonly FieldRequirement[]) {
    const valuesOf = (all: readonly FieldRequirement[], equal: boolean) =>
      new Set(all.filter((each) => each.equal === equal).map(({ value }) => value))
    this.#demands = [...Map.groupBy(requirements, ({ path }) => path)].map(
      ([path, all]) => [path, { equal: valuesOf(all, true), unequal: valuesOf(all, false) }] as const,
    )
  }

  matches(fieldValue: (path: string) => string | undefined): boolean {
    for (const [path, { equal, unequal }] of this.#demands) {
      const value = fieldValue(path) ?? ''
      if (unequal.has(value) || equal.size > 1 || (equal.size === 1 && !equal.has(value))) return false
    }
    return true
  }
}
