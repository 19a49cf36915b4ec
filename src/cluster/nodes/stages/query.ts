/**
 * Implements the subset of jq that stage selectors and delays use: paths (`.a.b`, `.a["x/y"]`, `.a[0]`), iteration
 * (`.a[]` or `.a.[]`), filters (`select( .type == "Ready" )`), pipes, and alternatives (`.a, .b`). All other syntax is
 * rejected at parse time.
 *
 * A query omits missing values and nulls.
 */
import { isObject, type Json, own } from '../../../api/json/json.ts'
import { StageError } from './stage-error.ts'

/** Finds values in an object. Omits missing values and nulls. */
export type Query = (value: Json) => Json[]

const maxLength = 1024
const token =
  /\s*(?:(select)\b|(\.(?=\[))|\.([A-Za-z_]\w*)|\.("(?:[^"\\]|\\.)*")|(\.)|(\[\s*\])|\[\s*(-?\d{1,9})\s*\]|\[\s*("(?:[^"\\]|\\.)*")\s*\]|([|,()])|(==|!=)|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?|true|false|null)(?!\w)|(\?))/y

type Token =
  | { readonly kind: 'select' | 'self' | 'each' }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'at'; readonly index: number }
  | { readonly kind: 'mark'; readonly mark: string }
  | { readonly kind: 'literal'; readonly value: Json }

/** Compiles a query. Throws StageError for unsupported syntax. */
export function compileQuery(text: string): Query {
  return new QueryReader(text).read()
}

class QueryReader {
  readonly #text: string
  readonly #tokens: Token[]
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = this.#scan()
  }

  read(): Query {
    const query = this.#alternatives()
    if (this.#at < this.#tokens.length) throw this.#fault()
    return query
  }

  #scan(): Token[] {
    if (this.#text.length > maxLength) throw this.#fault()
    const tokens: Token[] = []
    const trimmed = this.#text.trimEnd()
    for (let at = 0; at < trimmed.length; at = token.lastIndex) {
      token.lastIndex = at
      const match = token.exec(trimmed)
      if (match === null) throw this.#fault()
      tokens.push(...this.#tokenOf(match))
    }
    return tokens
  }

  #tokenOf(match: RegExpExecArray): Token[] {
    const [, select, , name, quotedName, dot, each, index, quotedIndex, mark, compare, text, word] = match
    if (select !== undefined) return [{ kind: 'select' }]
    const key = name ?? this.#string(quotedName ?? quotedIndex)
    if (key !== undefined) return [{ kind: 'key', key }]
    if (dot !== undefined) return [{ kind: 'self' }]
    if (each !== undefined) return [{ kind: 'each' }]
    if (index !== undefined) return [{ kind: 'at', index: Number(index) }]
    if (mark !== undefined || compare !== undefined) return [{ kind: 'mark', mark: (mark ?? compare)! }]
    const literal = text ?? word
    // The remaining tokens, such as a `?` or a `.` before a bracket, have no effect, because missing values never cause
    // errors.
    return literal === undefined ? [] : [{ kind: 'literal', value: JSON.parse(literal) as Json }]
  }

  #string(quoted: string | undefined): string | undefined {
    try {
      return quoted === undefined ? undefined : (JSON.parse(quoted) as string)
    } catch {
      throw this.#fault()
    }
  }

  #alternatives(): Query {
    const queries = [this.#pipe()]
    while (this.#take(',')) queries.push(this.#pipe())
    return (value) => queries.flatMap((query) => query(value))
  }

  #pipe(): Query {
    const steps = [this.#step()]
    while (this.#take('|')) steps.push(this.#step())
    return (value) => steps.reduce<Json[]>((values, step) => values.flatMap(step), [value])
  }

  #step(): Query {
    if (this.#tokens[this.#at]?.kind === 'select') return this.#select()
    const parts: Query[] = []
    for (let part = this.#pathPart(); part !== undefined; part = this.#pathPart()) parts.push(part)
    if (parts.length === 0) throw this.#fault()
    return (value) => parts.reduce<Json[]>((values, part) => values.flatMap(part), [value])
  }

  #pathPart(): Query | undefined {
    const next = this.#tokens[this.#at]
    const query = next === undefined ? undefined : partOf(next)
    if (query !== undefined) this.#at++
    return query
  }

  #select(): Query {
    this.#at++
    this.#expect('(')
    const path = this.#step()
    const mark = this.#take('==') ? '==' : this.#take('!=') ? '!=' : undefined
    const literal = mark === undefined ? undefined : this.#tokens[this.#at++]
    if (mark !== undefined && literal?.kind !== 'literal') throw this.#fault()
    this.#expect(')')
    const expectedValue = literal?.kind === 'literal' ? literal.value : undefined
    return (value) => {
      const actualValue = path(value)
      const holds =
        mark === undefined
          ? actualValue.some((each) => each !== false)
          : actualValue.includes(expectedValue!) === (mark === '==')
      return holds ? [value] : []
    }
  }

  #take(mark: string): boolean {
    const next = this.#tokens[this.#at]
    const isIt = next?.kind === 'mark' && next.mark === mark
    if (isIt) this.#at++
    return isIt
  }

  #expect(mark: string): void {
    if (!this.#take(mark)) throw this.#fault()
  }

  #fault(): StageError {
    return new StageError(
      `the expression ${JSON.stringify(this.#text.slice(0, maxLength))} is not supported: use paths such as .status.phase, .metadata.annotations["key"] and .status.conditions.[] | select( .type == "Ready" ) | .status`,
    )
  }
}

function partOf(next: Token): Query | undefined {
  if (next.kind === 'self') return (value) => [value]
  if (next.kind === 'each')
    return (value) => present(Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [])
  if (next.kind === 'key') return (value) => present([isObject(value) ? own(value, next.key) : undefined])
  if (next.kind === 'at') return (value) => present([Array.isArray(value) ? value.at(next.index) : undefined])
  return undefined
}

function present(values: readonly (Json | undefined)[]): Json[] {
  return values.filter((value): value is Json => value !== undefined && value !== null)
}
