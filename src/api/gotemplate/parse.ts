/**
 * Parses Go's template language: actions, pipelines, variables, and the keywords if, with, range, define, block,
 * template, break and continue. The parser checks everything that does not depend on a value, such as the names of
 * functions and variables and the positions of keywords.
 */
import { templateError } from './template-error.ts'
import { type Token, tokensOf } from './tokens.ts'
import {
  type Branch,
  type Command,
  lazyFunctions,
  type Node,
  type Operand,
  type Pipeline,
  type Template,
} from './tree.ts'

/**
 * Parses a template. `functions` contains the names of the functions that the template can call. Throws TemplateError
 * if the template is invalid.
 */
export function parseGoTemplate(text: string, functions: { has(name: string): boolean }): Template {
  return new Parser(text, functions).template()
}

/**
 * Maximum nesting depth of a template. The limit prevents a stack overflow and far exceeds the depth of real templates.
 */
const maxDepth = 200
/** Maximum number of variables in a scope. The lookup of a variable compares its name with all of them. */
const maxVariables = 500

interface Ended {
  readonly nodes: Node[]
  /** The token that ends a list of nodes: `end`, `else`, or '' for the end of the template. */
  readonly by: string
}

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  readonly #functions: { has(name: string): boolean }
  readonly #defined = new Map<string, readonly Node[]>()
  #variables: string[] = ['$']
  #next = 0
  #depth = 0
  #ranges = 0

  constructor(text: string, functions: { has(name: string): boolean }) {
    this.#text = text
    this.#functions = functions
    this.#tokens = tokensOf(text)
  }

  template(): Template {
    const { nodes, by } = this.#list({ top: true })
    if (by !== '') throw this.#fault(`unexpected {{${by}}}`, this.#tokens[this.#next - 1])
    return { text: this.#text, nodes, defined: this.#defined }
  }

  #list({ top }: { top: boolean } = { top: false }): Ended {
    if (++this.#depth > maxDepth) throw this.#fault(`actions are nested more than ${maxDepth} levels deep`)
    const nodes: Node[] = []
    for (;;) {
      const token = this.#tokens[this.#next]
      if (token === undefined) return this.#ended(nodes, '')
      this.#next++
      if (token.kind === 'text') nodes.push({ kind: 'text', text: token.text })
      else {
        const keyword = this.#tokens[this.#next]
        const word = keyword?.kind === 'word' ? keyword.text : ''
        if (word === 'end' || word === 'else') {
          this.#next++
          return this.#ended(nodes, word)
        }
        nodes.push(...this.#action(word, keyword ?? token, { top }))
      }
    }
  }

  #ended(nodes: Node[], by: string): Ended {
    this.#depth--
    return { nodes, by }
  }

  /** Parses the rest of an action after its `{{`. A template definition adds no nodes to the current list. */
  #action(word: string, { at }: Token, { top }: { top: boolean }): Node[] {
    if (word === 'if' || word === 'with' || word === 'range') {
      this.#next++
      return [this.#branch(word, at)]
    }
    if (word === 'break' || word === 'continue') {
      this.#next++
      if (this.#ranges === 0) throw this.#fault(`{{${word}}} outside {{range}}`)
      this.#close()
      return [{ kind: word }]
    }
    if (word === 'template') return [this.#call(at)]
    if (word === 'block') return [this.#block(at)]
    if (word === 'define') {
      if (!top) throw this.#fault('{{define}} is inside another action')
      return this.#define()
    }
    const pipeline = this.#pipeline(0)
    this.#close()
    return [{ kind: 'action', pipeline }]
  }

  #branch(kind: Branch['kind'], at: number): Branch {
    const variableCount = this.#variables.length
    const pipeline = this.#pipeline(kind === 'range' ? 2 : 1)
    this.#close()
    const inScope = this.#variables.length
    if (kind === 'range') this.#ranges++
    const body = this.#list()
    if (kind === 'range') this.#ranges--
    this.#variables.length = inScope
    const otherwise = body.by === 'else' ? this.#otherwise(kind) : []
    if (body.by === '') throw templateError(this.#text, at, `{{${kind}}} without {{end}}`)
    if (body.by === 'end') this.#close()
    this.#variables.length = variableCount
    return { kind, pipeline, body: body.nodes, otherwise, at }
  }

  /** Parses what follows `{{else`: another condition (`{{else if`), or the nodes up to `{{end}}`. */
  #otherwise(kind: Branch['kind']): readonly Node[] {
    const token = this.#tokens[this.#next]
    if (kind !== 'range' && token?.kind === 'word' && token.text === kind) {
      this.#next++
      return [this.#branch(kind, token.at)]
    }
    this.#close()
    const { nodes, by } = this.#list()
    if (by !== 'end') throw this.#fault(by === '' ? 'unexpected end of the text' : '{{else}} after {{else}}')
    this.#close()
    return nodes
  }

  #call(at: number): Node {
    this.#next++
    const name = this.#name()
    const pipeline = this.#isClosing() ? undefined : this.#pipeline(0)
    this.#close()
    return { kind: 'template', name, pipeline, at }
  }

  #block(at: number): Node {
    this.#next++
    const name = this.#name()
    const pipeline = this.#pipeline(0)
    this.#close()
    this.#definition(name)
    return { kind: 'template', name, pipeline, at }
  }

  #define(): Node[] {
    this.#next++
    const name = this.#name()
    this.#close()
    this.#definition(name)
    return []
  }

  /** Parses the body of a template definition. The body cannot access variables of the enclosing template. */
  #definition(name: string): void {
    const variables = this.#variables
    const ranges = this.#ranges
    this.#variables = ['$']
    this.#ranges = 0
    const { nodes, by } = this.#list()
    if (by !== 'end') throw this.#fault(`the template ${JSON.stringify(name)} has no {{end}}`)
    this.#close()
    this.#variables = variables
    this.#ranges = ranges
    this.#defined.set(name, nodes)
  }

  #name(): string {
    const token = this.#take()
    if (token.kind !== 'string') throw this.#fault('a template name must be quoted', token)
    return token.text
  }

  /**
   * Parses a pipeline up to its end token, which is not consumed. `maxNames` is the maximum number of variables in
   * a range. 0 means that the pipeline belongs to an ordinary action, which can declare one variable.
   */
  #pipeline(maxNames: number): Pipeline {
    const { variables, declares } = this.#declaration(maxNames)
    const commands: Command[] = []
    for (;;) {
      commands.push(this.#command(commands.length))
      const token = this.#tokens[this.#next]
      if (token?.kind !== 'mark' || token.text !== '|') break
      this.#next++
    }
    this.#variables.push(...(declares ? variables : []))
    if (this.#variables.length > maxVariables) throw this.#fault(`more than ${maxVariables} variables are in scope`)
    return { variables, declares, commands }
  }

  #declaration(maxNames: number): { variables: string[]; declares: boolean } {
    const start = this.#next
    const variables: string[] = []
    while (this.#tokens[this.#next]?.kind === 'variable') {
      variables.push(this.#tokens[this.#next++]!.text)
      const mark = this.#tokens[this.#next]
      if (mark?.kind !== 'mark') break
      this.#next++
      if (mark.text === ':=' || mark.text === '=') {
        const unknown = mark.text === '=' && variables.find((name) => !this.#variables.includes(name))
        if (unknown) throw this.#fault(`undefined variable ${JSON.stringify(unknown)}`, mark)
        return { variables, declares: mark.text === ':=' }
      }
      if (mark.text !== ',' || variables.length >= maxNames) break
    }
    this.#next = start
    return { variables: [], declares: false }
  }

  #command(stage: number): Command {
    const operands: Operand[] = []
    while (!this.#endsCommand()) {
      if (operands.length > 0 && !this.#tokens[this.#next]!.spaced)
        throw this.#fault(`unexpected ${JSON.stringify(this.#tokens[this.#next]!.text)}`, this.#tokens[this.#next])
      operands.push(this.#operand())
    }
    const [first, ...args] = operands
    if (first === undefined) throw this.#fault('a value is missing')
    if (stage > 0 && (first.kind === 'literal' || first.kind === 'dot' || first.kind === 'nil'))
      throw templateError(this.#text, first.at, `a function must follow |`)
    return [first, ...args]
  }

  #endsCommand(): boolean {
    const token = this.#tokens[this.#next]
    if (token === undefined) throw this.#fault('unexpected end of the text')
    return token.kind === 'close' || (token.kind === 'mark' && (token.text === '|' || token.text === ')'))
  }

  #operand(): Operand {
    const of = this.#term()
    const names: string[] = []
    const { at } = of
    for (;;) {
      const token = this.#tokens[this.#next]
      if (token?.kind !== 'field' || token.spaced) break
      names.push(token.text.slice(1))
      this.#next++
    }
    if (names.length === 0) return of
    if (of.kind === 'literal' || of.kind === 'nil') throw templateError(this.#text, at, 'a literal has no fields')
    if (of.kind === 'fields') return { ...of, names: [...of.names, ...names] }
    return { kind: 'fields', of, names, at }
  }

  #term(): Operand {
    const token = this.#take()
    const { text, at, kind } = token
    if (kind === 'dot') return { kind: 'dot', at }
    if (kind === 'field') return { kind: 'fields', of: { kind: 'dot', at }, names: [text.slice(1)], at }
    if (kind === 'string') return { kind: 'literal', value: text, at }
    if (kind === 'number') return { kind: 'literal', value: numberOf(text), at }
    if (kind === 'variable') {
      if (!this.#variables.includes(text)) throw this.#fault(`undefined variable ${JSON.stringify(text)}`, token)
      return { kind: 'variable', name: text, at }
    }
    if (kind === 'word') return this.#word(token)
    if (kind === 'mark' && text === '(') return this.#parentheses(at)
    throw this.#fault(`unexpected ${JSON.stringify(text)}`, token)
  }

  #word(token: Token): Operand {
    const { text, at } = token
    if (text === 'true' || text === 'false') return { kind: 'literal', value: text === 'true', at }
    if (text === 'nil') return { kind: 'nil', at }
    if (!lazyFunctions.has(text) && !this.#functions.has(text))
      throw this.#fault(`function ${JSON.stringify(text)} not defined`, token)
    return { kind: 'function', name: text, at }
  }

  #parentheses(at: number): Operand {
    if (++this.#depth > maxDepth) throw this.#fault(`parentheses are nested more than ${maxDepth} levels deep`)
    const pipeline = this.#pipeline(0)
    this.#depth--
    const close = this.#take()
    if (close.kind !== 'mark' || close.text !== ')') throw this.#fault('a parenthesis is not closed', close)
    return { kind: 'pipeline', pipeline, at }
  }

  #isClosing(): boolean {
    return this.#tokens[this.#next]?.kind === 'close'
  }

  #close(): void {
    const token = this.#take()
    if (token.kind !== 'close') throw this.#fault(`unexpected ${JSON.stringify(token.text)}`, token)
  }

  #take(): Token {
    const token = this.#tokens[this.#next++]
    if (token === undefined) throw this.#fault('unexpected end of the text')
    return token
  }

  #fault(what: string, token = this.#tokens[Math.min(this.#next, this.#tokens.length - 1)]) {
    return templateError(this.#text, token?.at ?? this.#text.length, what)
  }
}

/** Parses a number. An integer that a JavaScript number cannot represent exactly becomes a bigint. */
function numberOf(text: string): number | bigint {
  const digits = text.replaceAll('_', '').replace(/^\+/, '')
  if (!/^-?(?:0[xXbBoO][\da-fA-F]+|\d+)$/.test(digits)) return Number(digits)
  const value = digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits)
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
