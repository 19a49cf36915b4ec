/**
 * Label selectors in query syntax, such as `a=b,c!=d,e in (f,g),h notin (i),j,!k`. The parser makes one pass in linear
 * time. It reports a syntax error as a 400 error that contains the position. `LabelMatcher` is a selector prepared for
 * matching many objects. The cost per object depends on the object's labels rather than on the length of the selector.
 */
import { shorten } from '../../base/text/shorten.ts'
import { badRequest } from '../model/api-error.ts'
import { checkLabelValue, checkQualifiedName } from '../model/names.ts'

/** The labels of an object. Undefined for an object without labels. */
export type Labels = { readonly [key: string]: string } | undefined

/** One requirement of a label selector, such as `e in (f,g)`. */
export type Requirement =
  | { readonly op: 'in'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'notin'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'exists'; readonly key: string }
  | { readonly op: 'absent'; readonly key: string }
  | { readonly op: 'gt' | 'lt'; readonly key: string; readonly value: number }

const maxLength = 64 * 1024
const maxRequirements = 1000

/** Returns the requirements of a selector, in order. Throws error 400 if the selector is invalid. */
export function parseLabelSelector(text: string): Requirement[] {
  if (text.length > maxLength) throw badRequest(`the label selector is longer than ${maxLength} characters`)
  const parser = new Parser(text)
  const requirements: Requirement[] = []
  parser.skipSpace()
  if (parser.atEnd()) return []
  do {
    requirements.push(parser.requirement())
    if (requirements.length > maxRequirements)
      throw badRequest(`the label selector has more than ${maxRequirements} requirements`)
  } while (parser.comma())
  return requirements
}

/** A selector in an object: labels that must match, and expressions that must be met. */
export interface SelectorObject {
  readonly matchLabels?: { readonly [key: string]: string } | undefined
  readonly matchExpressions?:
    | readonly { readonly key?: string; readonly operator?: string; readonly values?: readonly string[] }[]
    | undefined
}

/** Returns the requirements of an object's selector. A requirement with an unknown operator matches nothing. */
export function requirementsOf({ matchLabels = {}, matchExpressions = [] }: SelectorObject): Requirement[] {
  return [
    ...Object.entries(matchLabels).map(([key, value]) => ({ op: 'in' as const, key, values: [value] })),
    ...matchExpressions.map(({ key = '', operator = '', values = [] }) => requirementOf(key, operator, values)),
  ]
}

function requirementOf(key: string, operator: string, values: readonly string[]): Requirement {
  switch (operator) {
    case 'NotIn':
      return { op: 'notin', key, values }
    case 'Exists':
      return { op: 'exists', key }
    case 'DoesNotExist':
      return { op: 'absent', key }
    default:
      return { op: 'in', key, values: operator === 'In' ? values : [] }
  }
}

/** All requirements for one label, combined. */
interface Demand {
  /** Whether an object must have the label in order to match. */
  readonly needed: boolean
  readonly forbidden: boolean
  readonly oneOf: ReadonlySet<string> | undefined
  readonly noneOf: ReadonlySet<string> | undefined
  readonly above: number
  readonly below: number
}

const anything: Demand = {
  needed: false,
  forbidden: false,
  oneOf: undefined,
  noneOf: undefined,
  above: Number.NEGATIVE_INFINITY,
  below: Number.POSITIVE_INFINITY,
}

/** Matches objects against a label selector. */
export class LabelMatcher {
  readonly #demands = new Map<string, Demand>()
  /** Minimum number of labels that a matching object must have. */
  readonly #needed: number

  constructor(requirements: readonly Requirement[]) {
    for (const [key, all] of Map.groupBy(requirements, (requirement) => requirement.key))
      this.#demands.set(key, demandOf(all))
    this.#needed = [...this.#demands.values()].filter(({ needed }) => needed).length
  }

  /**
   * The label with the smallest set of allowed values, for use with an index. Undefined if the selector restricts no
   * label to certain values.
   */
  get choice(): { readonly key: string; readonly values: ReadonlySet<string> } | undefined {
    let best: { key: string; values: ReadonlySet<string> } | undefined
    for (const [key, { oneOf }] of this.#demands)
      if (oneOf !== undefined && (best === undefined || oneOf.size < best.values.size)) best = { key, values: oneOf }
    return best
  }

  matches(labels: Labels): boolean {
    if (this.#demands.size === 0) return true
    let met = 0
    for (const key in labels) {
      const demand = this.#demands.get(key)
      if (demand === undefined) continue
      if (!allows(demand, labels[key]!)) return false
      if (demand.needed) met++
    }
    return met === this.#needed
  }
}

function demandOf(requirements: readonly Requirement[]): Demand {
  const choices = requirements.filter((each) => each.op === 'in').map(({ values }) => new Set(values))
  const excluded = requirements.filter((each) => each.op === 'notin').flatMap(({ values }) => values)
  return {
    needed: requirements.some(({ op }) => op !== 'notin' && op !== 'absent'),
    forbidden: requirements.some(({ op }) => op === 'absent'),
    oneOf: choices.length === 0 ? undefined : choices.reduce(common),
    noneOf: excluded.length === 0 ? undefined : new Set(excluded),
    above: requirements.reduce((most, each) => (each.op === 'gt' ? Math.max(most, each.value) : most), anything.above),
    below: requirements.reduce(
      (least, each) => (each.op === 'lt' ? Math.min(least, each.value) : least),
      anything.below,
    ),
  }
}

function common(some: ReadonlySet<string>, others: ReadonlySet<string>): Set<string> {
  return new Set([...some].filter((value) => others.has(value)))
}

function allows({ forbidden, oneOf, noneOf, above, below }: Demand, value: string): boolean {
  if (forbidden || noneOf?.has(value) || oneOf?.has(value) === false) return false
  if (above === anything.above && below === anything.below) return true
  return /^-?\d+$/.test(value) && Number(value) > above && Number(value) < below
}

class Parser {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  requirement(): Requirement {
    this.skipSpace()
    if (this.#eat('!')) return { op: 'absent', key: this.#key() }
    const key = this.#key()
    this.skipSpace()
    if (this.atEnd() || this.#peek() === ',') return { op: 'exists', key }
    if (this.#eat('!=')) return { op: 'notin', key, values: [this.#value(key)] }
    if (this.#eat('==') || this.#eat('=')) return { op: 'in', key, values: [this.#value(key)] }
    if (this.#eat('>')) return { op: 'gt', key, value: this.#number(key) }
    if (this.#eat('<')) return { op: 'lt', key, value: this.#number(key) }
    const word = this.#word()
    if (word === 'in' || word === 'notin') return { op: word, key, values: this.#values(key) }
    throw this.#unexpected(`an operator after ${JSON.stringify(key)}`, this.#at - word.length)
  }

  comma(): boolean {
    this.skipSpace()
    if (this.atEnd()) return false
    if (!this.#eat(',')) throw this.#unexpected("',' or the end")
    return true
  }

  skipSpace(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? '-')) this.#at++
  }

  atEnd(): boolean {
    return this.#at >= this.#text.length
  }

  #key(): string {
    this.skipSpace()
    const key = this.#word()
    const errors = key === '' ? ['a label key is required'] : checkQualifiedName(key)
    if (errors.length > 0) throw this.#fault(`${JSON.stringify(shorten(key, 100))} is not a label key: ${errors[0]}`)
    return key
  }

  #value(key: string): string {
    this.skipSpace()
    const value = this.#word()
    const errors = checkLabelValue(value)
    if (errors.length > 0)
      throw this.#fault(`${JSON.stringify(shorten(value, 100))} is not a valid value for ${key}: ${errors[0]}`)
    return value
  }

  #number(key: string): number {
    const value = this.#value(key)
    if (!/^-?\d{1,18}$/.test(value)) throw this.#fault(`${key}: for '>' and '<' the value must be an integer`)
    return Number(value)
  }

  #values(key: string): string[] {
    this.skipSpace()
    if (!this.#eat('(')) throw this.#unexpected("'('")
    const values: string[] = []
    do {
      values.push(this.#value(key))
      this.skipSpace()
    } while (this.#eat(','))
    if (!this.#eat(')')) throw this.#unexpected("',' or ')'")
    return values
  }

  #word(): string {
    const start = this.#at
    while (!this.atEnd() && !' \t\r\n!=<>,()'.includes(this.#text[this.#at]!)) this.#at++
    return this.#text.slice(start, this.#at)
  }

  #peek(): string | undefined {
    return this.#text[this.#at]
  }

  #eat(token: string): boolean {
    if (!this.#text.startsWith(token, this.#at)) return false
    this.#at += token.length
    return true
  }

  #unexpected(expectedToken: string, at = this.#at): Error {
    const found = at >= this.#text.length ? 'the end' : JSON.stringify(this.#text.slice(at, at + 20))
    return this.#fault(`expected ${expectedToken}, found ${found}`)
  }

  #fault(what: string): Error {
    return badRequest(`unable to parse the label selector at character ${this.#at + 1}: ${what}`)
  }
}
