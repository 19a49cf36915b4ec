/**
 * Label selectors in their query form: `a=b,c!=d,e in (f,g),h notin (i),j,!k`.
 * Parsed in one pass, linear in the text; what does not parse is a 400 that says where.
 */
import { shorten } from '../base/shorten.ts'
import { badRequest } from './api-error.ts'
import { checkLabelValue, checkQualifiedName } from './names.ts'

export type Labels = { readonly [key: string]: string } | undefined

export type Requirement =
  | { readonly op: 'in'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'notin'; readonly key: string; readonly values: readonly string[] }
  | { readonly op: 'exists'; readonly key: string }
  | { readonly op: 'absent'; readonly key: string }
  | { readonly op: 'gt' | 'lt'; readonly key: string; readonly value: number }

const maxLength = 64 * 1024
const maxRequirements = 1000

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

export function matchesLabels(requirements: readonly Requirement[], labels: Labels): boolean {
  return requirements.every((requirement) => matchesOne(requirement, labelValue(labels, requirement.key)))
}

function matchesOne(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.op) {
    case 'in':
      return value !== undefined && requirement.values.includes(value)
    case 'notin':
      return value === undefined || !requirement.values.includes(value)
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    case 'gt':
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) > requirement.value
    case 'lt':
      return value !== undefined && /^-?\d+$/.test(value) && Number(value) < requirement.value
    default:
      return requirement satisfies never
  }
}

function labelValue(labels: Labels, key: string): string | undefined {
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined
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
    const errors = key === '' ? ['a label key is needed'] : checkQualifiedName(key)
    if (errors.length > 0) throw this.#fault(`${JSON.stringify(shorten(key, 100))} is no label key: ${errors[0]}`)
    return key
  }

  #value(key: string): string {
    this.skipSpace()
    const value = this.#word()
    const errors = checkLabelValue(value)
    if (errors.length > 0)
      throw this.#fault(`${JSON.stringify(shorten(value, 100))} is no value for ${key}: ${errors[0]}`)
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

  #unexpected(wanted: string, at = this.#at): Error {
    const found = at >= this.#text.length ? 'the end' : JSON.stringify(this.#text.slice(at, at + 20))
    return this.#fault(`expected ${wanted}, found ${found}`)
  }

  #fault(what: string): Error {
    return badRequest(`unable to parse the label selector at character ${this.#at + 1}: ${what}`)
  }
}
