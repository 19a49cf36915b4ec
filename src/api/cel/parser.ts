/**
 * Parses an expression into a syntax tree by recursive descent. The parser limits the length of the expression and the
 * depth of the tree, so that recursive code can traverse the tree safely. It also recognizes the macros `has`, `all`,
 * `exists`, `exists_one`, `map` and `filter` (macros.ts).
 */
import type { Call, Node, StructField } from './ast.ts'
import { functions } from './functions/all.ts'
import { SyntaxIssue } from './issues.ts'
import { type Token, tokenize } from './lexer.ts'
import { type Dialect, readMacro } from './macros.ts'
import { Double, maxInt, minInt, toInt, Uint, type Value } from './values.ts'

/** Maximum length of an expression in characters. */
const maxLength = 100_000
/** Maximum nesting depth of expressions, as in cel-go. */
const maxNesting = 250
/** Maximum depth of the syntax tree. The tree of `1 + 1 + 1 + ...` is deep although the expression is not nested. */
const maxDepth = 600
/**
 * Maximum number of nodes in a syntax tree. Each compilation stage takes a few microseconds per node and cannot be
 * interrupted.
 */
const maxParts = 10_000

const reserved = new Set([
  ...['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package'],
  ...['namespace', 'return', 'var', 'void', 'while'],
])

/** Precedence of each binary operator. Higher numbers bind more tightly. */
const precedences: ReadonlyMap<string, number> = new Map([
  ['||', 1],
  ['&&', 2],
  ...['<', '<=', '>', '>=', '==', '!=', 'in'].map((sign) => [sign, 3] as const),
  ...['+', '-'].map((sign) => [sign, 4] as const),
  ...['*', '/', '%'].map((sign) => [sign, 5] as const),
])

const primaryTokens =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** Parses an expression. Throws SyntaxIssue if the expression is invalid. */
export function parse(text: string, dialect: Dialect = {}): Node {
  if (text.length > maxLength) {
    const { length } = [...text]
    if (length > maxLength)
      throw new SyntaxIssue(0, `expression code point size exceeds limit: size: ${length}, limit ${maxLength}`)
  }
  return new Parser(tokenize(text), dialect).parse()
}

class Parser {
  readonly #tokens: readonly Token[]
  readonly #dialect: Dialect
  readonly #depths = new Map<Node, number>()
  #next = 0
  #nesting = 0

  constructor(tokens: readonly Token[], dialect: Dialect) {
    this.#tokens = tokens
    this.#dialect = dialect
  }

  parse(): Node {
    const root = this.#expression()
    const token = this.#token
    if (token.kind !== 'end')
      throw new SyntaxIssue(token.at, `Syntax error: extraneous input '${token.text}' expecting <EOF>`)
    return root
  }

  get #token(): Token {
    return this.#tokens[this.#next]!
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#token
    return kind === 'operator' && found === text
  }

  #take(text: string): Token | undefined {
    return this.#is(text) ? this.#tokens[this.#next++] : undefined
  }

  #expect(text: string): Token {
    const takenToken = this.#take(text)
    if (takenToken !== undefined) return takenToken
    const { at, kind, text: found } = this.#token
    throw new SyntaxIssue(
      at,
      `Syntax error: mismatched input '${kind === 'end' ? '<EOF>' : found}' expecting '${text}'`,
    )
  }

  /** Records the depth of a node and returns the node. */
  #made<T extends Node>(node: T, parts: readonly Node[]): T {
    let depth = 1
    for (const part of parts) depth = Math.max(depth, 1 + (this.#depths.get(part) ?? 0))
    if (this.#depths.size >= maxParts)
      throw new SyntaxIssue(node.at, `expression has too many parts: at most ${maxParts}`)
    if (depth > maxDepth) throw new SyntaxIssue(node.at, `expression is nested too deeply: at most ${maxDepth} levels`)
    this.#depths.set(node, depth)
    return node
  }

  #call(name: string, at: number, args: readonly Node[]): Call {
    return this.#made({ kind: 'call', at, name, target: undefined, args }, args)
  }

  #expression(): Node {
    if (++this.#nesting > maxNesting)
      throw new SyntaxIssue(this.#token.at, `expression recursion limit exceeded: ${maxNesting}`)
    const condition = this.#binary(1)
    const question = this.#take('?')
    let result = condition
    if (question !== undefined) {
      const then = this.#binary(1)
      this.#expect(':')
      result = this.#call('_?_:_', question.at, [condition, then, this.#expression()])
    }
    this.#nesting--
    return result
  }

  /** Parses operands that are joined by operators of at least the given precedence. */
  #binary(tightness: number): Node {
    let left = this.#unary()
    for (;;) {
      const { kind, text, at } = this.#token
      const precedence = kind === 'operator' ? (precedences.get(text) ?? 0) : 0
      if (precedence < tightness || precedence === 0) return left
      if (text === '&&' || text === '||') left = this.#logic(left, text, precedence)
      else {
        this.#next++
        left = this.#call(text === 'in' ? '@in' : `_${text}_`, at, [left, this.#binary(precedence + 1)])
      }
    }
  }

  /**
   * Parses a chain of operands that are joined by the same logical operator into a balanced tree. Otherwise, the trees
   * of long chains, which are common, would exceed the maximum depth.
   */
  #logic(first: Node, sign: '&&' | '||', precedence: number): Node {
    const terms = [first]
    const places: number[] = []
    for (let token = this.#take(sign); token !== undefined; token = this.#take(sign)) {
      places.push(token.at)
      terms.push(this.#binary(precedence + 1))
    }
    return this.#balanced(`_${sign}_`, { terms, places })
  }

  #balanced(name: string, { terms, places }: { terms: readonly Node[]; places: readonly number[] }): Node {
    if (terms.length === 1) return terms[0]!
    const middle = terms.length >> 1
    const left = this.#balanced(name, { terms: terms.slice(0, middle), places: places.slice(0, middle - 1) })
    const right = this.#balanced(name, { terms: terms.slice(middle), places: places.slice(middle) })
    return this.#call(name, places[middle - 1]!, [left, right])
  }

  /** Parses a unary operator. The expressions `!!x` and `--x` are both parsed as `x`. */
  #unary(): Node {
    const sign = ['!', '-'].find((sign) => this.#is(sign))
    if (sign === undefined) return this.#member()
    const { at } = this.#token
    if (sign === '-' && this.#tokens[this.#next + 1]!.kind !== 'operator') {
      const negative = this.#negativeLiteral()
      if (negative !== undefined) return this.#members(negative)
    }
    let count = 0
    while (this.#take(sign) !== undefined) count++
    const operand = this.#member()
    return count % 2 === 0 ? operand : this.#call(sign === '!' ? '!_' : '-_', at, [operand])
  }

  /**
   * Parses a negative number. The number -9223372036854775808 cannot be parsed as a negated positive number, because
   * 9223372036854775808 exceeds 64 bits.
   */
  #negativeLiteral(): Node | undefined {
    const token = this.#tokens[this.#next + 1]!
    if (token.kind !== 'int' && token.kind !== 'double') return undefined
    const { at } = this.#token
    this.#next += 2
    return this.#made({ kind: 'literal', at, value: numberOf({ ...token, text: `-${token.text}` }) }, [])
  }

  #member(): Node {
    return this.#members(this.#primary())
  }

  #members(first: Node): Node {
    let node = first
    for (;;) {
      const dot = this.#take('.')
      if (dot !== undefined) {
        node = this.#afterDot(node, dot.at)
        continue
      }
      const bracket = this.#take('[')
      if (bracket === undefined) return node
      const isOptional = this.#take('?') !== undefined
      const index = this.#expression()
      this.#expect(']')
      node = this.#call(isOptional ? '_[?_]' : '_[_]', bracket.at, [node, index])
    }
  }

  #afterDot(operand: Node, at: number): Node {
    const isOptional = this.#take('?') !== undefined
    const token = this.#token
    if (token.kind !== 'identifier') {
      const tokenText = token.kind === 'end' ? '<EOF>' : token.text
      throw new SyntaxIssue(token.at, `Syntax error: no viable alternative at input '.${tokenText}'`)
    }
    this.#next++
    if (isOptional) {
      const field = this.#made({ kind: 'literal', at: token.at, value: token.text }, [])
      return this.#call('_?._', at, [operand, field])
    }
    const open = this.#take('(')
    if (open === undefined) {
      const select: Node = { kind: 'select', at, operand, field: token.text, isTest: false }
      return this.#made(select, [operand])
    }
    const call: Call = { kind: 'call', at: open.at, name: token.text, target: operand, args: this.#list(')') }
    return this.#withMacros(call)
  }

  #withMacros(call: Call): Node {
    const parts = call.target === undefined ? call.args : [call.target, ...call.args]
    return this.#made(readMacro(call, this.#dialect) ?? inNamespace(call) ?? call, parts)
  }

  /** Parses a list of expressions up to and including the closing bracket. */
  #list(close: ')' | ']', optionals?: Set<number>): Node[] {
    const items: Node[] = []
    if (this.#take(close) !== undefined) return items
    for (;;) {
      if (optionals !== undefined && this.#take('?') !== undefined) optionals.add(items.length)
      items.push(this.#expression())
      if (this.#take(',') === undefined) break
      // As in CEL, a comma may follow the last element of a list.
      if (close === ']' && this.#is(close)) break
    }
    this.#expect(close)
    return items
  }

  #primary(): Node {
    const token = this.#token
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
        return this.#literal(numberOf(token))
      case 'string':
        return this.#literal(token.text)
      case 'bytes':
        return this.#literal(token.bytes)
      case 'identifier':
        return this.#name(token)
      default:
        return this.#bracketed(token)
    }
  }

  #literal(value: Value): Node {
    const { at } = this.#tokens[this.#next++]!
    return this.#made({ kind: 'literal', at, value }, [])
  }

  #name({ text, at }: Token): Node {
    if (text === 'true' || text === 'false') return this.#literal(text === 'true')
    if (text === 'null') return this.#literal(null)
    this.#next++
    if (reserved.has(text)) throw new SyntaxIssue(at, `reserved identifier: ${text}`)
    const struct = this.#struct(text, at)
    if (struct !== undefined) return struct
    const open = this.#take('(')
    if (open === undefined) return this.#made({ kind: 'identifier', at, name: text }, [])
    return this.#withMacros({ kind: 'call', at: open.at, name: text, target: undefined, args: this.#list(')') })
  }

  /**
   * Parses the rest of an object such as `Object.spec{replicas: 3}` after its first name. Returns undefined if the
   * expression is not an object.
   */
  #struct(first: string, at: number): Node | undefined {
    const isOperator = ({ kind, text }: Token, sign: string) => kind === 'operator' && text === sign
    const names = [first]
    let next = this.#next
    while (isOperator(this.#tokens[next]!, '.') && this.#tokens[next + 1]?.kind === 'identifier') {
      names.push(this.#tokens[next + 1]!.text)
      next += 2
    }
    if (!isOperator(this.#tokens[next]!, '{')) return undefined
    this.#next = next + 1
    const fields: StructField[] = []
    while (!this.#is('}')) {
      fields.push(this.#field())
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    const struct: Node = { kind: 'struct', at, name: names.join('.'), fields }
    return this.#made(
      struct,
      fields.map(({ value }) => value),
    )
  }

  #field(): StructField {
    const isOptional = this.#take('?') !== undefined
    const { kind, text: name, at: place } = this.#token
    if (kind !== 'identifier') {
      const tokenText = kind === 'end' ? '<EOF>' : name
      throw new SyntaxIssue(
        place,
        `Syntax error: mismatched input '${tokenText}' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}`,
      )
    }
    this.#next++
    const { at } = this.#expect(':')
    return { at, name, value: this.#expression(), isOptional }
  }

  #bracketed({ at, kind, text }: Token): Node {
    if (this.#take('(') !== undefined) {
      const inner = this.#expression()
      this.#expect(')')
      return inner
    }
    if (this.#take('[') !== undefined) {
      const optionals = new Set<number>()
      const elements = this.#list(']', optionals)
      return this.#made({ kind: 'list', at, elements, optionals }, elements)
    }
    if (this.#take('{') !== undefined) return this.#map(at)
    // A name with a leading dot refers to the root scope. All names are in the root scope, so the dot has no effect.
    if (this.#take('.') !== undefined && this.#token.kind === 'identifier') return this.#name(this.#token)
    const tokenText = kind === 'end' ? '<EOF>' : text
    throw new SyntaxIssue(at, `Syntax error: mismatched input '${tokenText}' expecting ${primaryTokens}`)
  }

  #map(at: number): Node {
    const entries: [Node, Node][] = []
    const optionals = new Set<number>()
    while (!this.#is('}')) {
      if (this.#take('?') !== undefined) optionals.add(entries.length)
      const key = this.#expression()
      this.#expect(':')
      entries.push([key, this.#expression()])
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    return this.#made({ kind: 'map', at, entries, optionals }, entries.flat())
  }
}

/**
 * Converts a call such as `sets.contains(a, b)` from a method call to a namespaced function call. The namespace takes
 * precedence over a variable of the same name.
 */
function inNamespace({ kind, at, name, target, args }: Call): Call | undefined {
  if (target?.kind !== 'identifier') return undefined
  const qualified = `${target.name}.${name}`
  return functions.has(qualified) ? { kind, at, name: qualified, target: undefined, args } : undefined
}

function numberOf({ kind, text, at }: Token): Value {
  if (kind === 'double') return new Double(Number(text))
  const digits = text.replace(/[uU]$/, '')
  const isNegative = digits.startsWith('-')
  const size = BigInt(isNegative ? digits.slice(1) : digits)
  const value = isNegative ? -size : size
  const isInRange = kind === 'uint' ? value < 2n ** 64n : value >= minInt && value <= maxInt
  if (!isInRange) throw new SyntaxIssue(at, `invalid ${kind} literal`)
  return kind === 'uint' ? new Uint(value) : toInt(value)
}
