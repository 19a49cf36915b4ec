/**
 * Parses a JSONPath. Steps are written as `.field`, `.a\.b`, `['field']`, `[0]`, `[-1]`, `[0:2]`, `[0,2]`, `[*]`, `.*`,
 * `..field` and `[?(@.x=="y")]`, and `$` and `@` are accepted where the grammar allows them. Columns and templates have
 * slightly different grammars. Throws UsageError for a path that is malformed, too long or too deeply nested.
 */
import { UsageError } from '../../base/flags/flags.ts'
import type { Filter, Operand, Operator, Slice, Step, ValueStep } from './path.ts'

/** The parts of the path syntax that differ between columns and templates. */
export interface Grammar {
  /** Matches `.name` at the current position. The name may be empty. */
  readonly member: RegExp
  /**
   * Whether a path may contain `$` and `@`, and may end with `..`. A filter operand may always begin with `$` or `@`.
   */
  readonly hasRoots: boolean
  /** Returns the name inside brackets, such as `a b` for `'a b'`. Returns undefined if the brackets contain no name. */
  readonly bracketName: (text: string) => string | undefined
  /** Matches an index or a range inside brackets. The groups are the start, the first colon, the end and the stride. */
  readonly slice: RegExp
  /**
   * Parses a comparison in a filter. Returns undefined if the filter is not a comparison. Throws UsageError for an
   * unknown operator.
   */
  readonly splitFilter: (text: string) => { left: string; operator: Operator; right: string } | undefined
  /** Parses an operand of a filter, which is a constant or a path. Returns undefined if the string is neither. */
  readonly operand: (text: string) => Exclude<Operand, { path: unknown }> | { readonly text: string } | undefined
  /** Maximum number of steps in a path, and maximum nesting depth of filters. */
  readonly maxSteps: number
  readonly maxDepth: number
}

/** Parses the steps of a path. `depth` is the number of enclosing filters. */
export function parseSteps(text: string, grammar: Grammar, depth = 0): Step[] {
  if (depth > grammar.maxDepth) throw new UsageError(`jsonpath: more than ${grammar.maxDepth} nested filters`)
  return new PathParser(text, grammar, depth).parse()
}

class PathParser {
  readonly #text: string
  readonly #grammar: Grammar
  readonly #depth: number
  #place = 0

  constructor(text: string, grammar: Grammar, depth: number) {
    this.#text = text
    this.#grammar = grammar
    this.#depth = depth
  }

  parse(): Step[] {
    const steps: Step[] = []
    while (this.#place < this.#text.length) {
      const step = this.#step()
      if (step !== undefined) steps.push(step)
      if (steps.length > this.#grammar.maxSteps)
        throw new UsageError(`jsonpath: a path has more than ${this.#grammar.maxSteps} steps`)
    }
    return steps
  }

  /** Parses one step. Returns undefined for the tokens that select nothing: `@`, and a dot before a bracket. */
  #step(): Step | undefined {
    const text = this.#text
    const place = this.#place
    if (this.#grammar.hasRoots && text[place] === '$') return this.#took(1, { top: true })
    if (this.#grammar.hasRoots && text[place] === '@') return this.#took(1)
    if (text.startsWith('..', place)) return this.#descend()
    if (text.startsWith('.*', place)) return this.#took(2, { all: true })
    if (text[place] === '[') return this.#brackets()
    return this.#member()
  }

  #took(length: number, step?: Step): Step | undefined {
    this.#place += length
    return step
  }

  #descend(): Step | undefined {
    if (!this.#grammar.hasRoots && this.#place + 2 === this.#text.length) throw this.#fault()
    return this.#took(this.#text[this.#place + 2] === '[' ? 2 : 1, { descend: true })
  }

  #member(): Step | undefined {
    const { member } = this.#grammar
    member.lastIndex = this.#place
    const match = member.exec(this.#text)
    if (match === null) throw this.#fault()
    const field = match[1]!.replaceAll(/\\(.)/gs, '$1')
    return field === '' ? this.#took(1) : this.#took(match[0].length, { field })
  }

  #brackets(): Step {
    const open = this.#place
    const close = this.#closing(open)
    const text = this.#text.slice(open + 1, close).trim()
    const step = this.#insideBrackets(text)
    this.#place = close + 1
    return step
  }

  #insideBrackets(text: string): Step {
    if (text === '*') return { all: true }
    const filter = /^\?\((.*)\)$/s.exec(text)
    if (filter !== null) return { filter: this.#filter(filter[1]!) }
    const [first, ...others] = splitOutsideQuotes(text, ',').map((member) => this.#element(member.trim()))
    return others.length === 0 ? first! : { any: [first!, ...others] }
  }

  /** Returns the position of the matching closing bracket. Brackets inside quotes are ignored. */
  #closing(open: number): number {
    let depth = 0
    let quote = ''
    for (let i = open; i < this.#text.length; i++) {
      const c = this.#text[i]!
      if (c === '\\') i++
      else if (quote !== '') quote = c === quote ? '' : quote
      else if (c === '"' || c === "'") quote = c
      else if (c === '[') depth++
      else if (c === ']' && --depth === 0) return i
    }
    throw this.#fault()
  }

  #element(text: string): ValueStep {
    const slice = sliceOf(text, this.#grammar.slice)
    if (slice !== undefined) return { slice }
    const field = this.#grammar.bracketName(text)
    if (field === undefined) throw this.#fault(`[${text}]`)
    return { field }
  }

  #filter(text: string): Filter {
    const split = this.#grammar.splitFilter(text)
    if (split === undefined) return { left: this.#operand(text) }
    const { left, operator, right } = split
    return { left: this.#operand(left), comparison: { operator, right: this.#operand(right) } }
  }

  #operand(text: string): Operand {
    const operand = this.#grammar.operand(text.trim())
    if (operand === undefined) throw this.#fault()
    if ('value' in operand) return operand
    const root = this.#grammar.hasRoots ? undefined : /^[@$]/.exec(operand.text)?.[0]
    const path = parseSteps(operand.text.slice(root?.length), this.#grammar, this.#depth + 1)
    return { path: root === '$' ? [{ top: true }, ...path] : path }
  }

  #fault(rest = this.#text.slice(this.#place)): UsageError {
    return new UsageError(`jsonpath: unexpected ${JSON.stringify(rest.slice(0, 40))} in ${JSON.stringify(this.#text)}`)
  }
}

function sliceOf(text: string, pattern: RegExp): Slice | undefined {
  const match = text === '' ? null : pattern.exec(text)
  if (match === null) return undefined
  const [, from, colon, to, by] = match
  if (colon === undefined) return { index: Number(from) }
  return {
    ...(from === undefined ? {} : { from: Number(from) }),
    ...(to === undefined ? {} : { to: Number(to) }),
    by: by === undefined ? 1 : Number(by),
  }
}

/** Splits a string at the separators outside quotes. */
export function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (c === '\\') i++
    else if (quote !== '') quote = c === quote ? '' : quote
    else if (c === '"' || c === "'") quote = c
    else if (text.startsWith(separator, i)) {
      parts.push(text.slice(start, i))
      i += separator.length - 1
      start = i + 1
    }
  }
  return [...parts, text.slice(start)]
}
