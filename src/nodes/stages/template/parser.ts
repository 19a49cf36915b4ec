/**
 * Parses the part of Go's template language that stages use: text, comments, trimming (`{{-`), pipelines, variables,
 * `if`, `range`, `with`, `else` and `end`. What is not part of it (`define`, `template`, `block`, `break`, `continue`)
 * is refused by its name, and so are functions that nobody offers.
 */
import type { Json } from '../../../model/json.ts'
import { StageError } from '../stage-error.ts'
import { type Lexeme, lex } from './lexer.ts'

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly pipe: Pipe
      readonly body: readonly Block[]
      readonly other: readonly Block[]
    }

export interface Pipe {
  /** The variables that get its value: one; of a range also two, the first for the key. */
  readonly variables: readonly string[]
  /** Whether the variables are new. */
  readonly declares: boolean
  readonly commands: readonly Command[]
}

/** A call, or a single value. */
export interface Command {
  readonly words: readonly Operand[]
}

export type Operand =
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'dot'; readonly path: readonly string[] }
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly string[] }
  | { readonly kind: 'pipe'; readonly pipe: Pipe; readonly path: readonly string[] }

const keywords = new Set(['if', 'range', 'with', 'else', 'end'])
const maxDepth = 50

/** `hasFunction`: whether there is a function of this name. Throws StageError. */
export function parseTemplate(text: string, hasFunction: (name: string) => boolean): Block[] {
  const parser = new Parser(lex(text), hasFunction)
  const { blocks, end } = parser.blocks(0)
  if (end !== undefined) throw new StageError(`statusTemplate: {{${end}}} closes nothing`)
  return blocks
}

/** What ended a list of blocks; undefined: the end of the template. */
type Ending = 'else' | 'end' | undefined

class Parser {
  readonly #lexemes: readonly Lexeme[]
  readonly #hasFunction: (name: string) => boolean
  #at = 0

  constructor(lexemes: readonly Lexeme[], hasFunction: (name: string) => boolean) {
    this.#lexemes = lexemes
    this.#hasFunction = hasFunction
  }

  blocks(depth: number): { blocks: Block[]; end: Ending } {
    if (depth > maxDepth) throw new StageError(`statusTemplate: more than ${maxDepth} blocks inside one another`)
    const blocks: Block[] = []
    for (;;) {
      const next = this.#lexemes[this.#at++]
      if (next === undefined) return { blocks, end: undefined }
      if (next.kind === 'text') blocks.push({ kind: 'text', text: next.text })
      else if (next.kind === 'open') {
        const found = this.#action(depth)
        if (typeof found === 'string') return { blocks, end: found }
        blocks.push(found)
      } else throw this.#unexpected(next)
    }
  }

  #action(depth: number): Block | 'else' | 'end' {
    const word = this.#peek()
    if (word?.kind !== 'word' || !keywords.has(word.text)) return { kind: 'print', pipe: this.#pipe('close') }
    this.#at++
    if (word.text === 'end') {
      this.#expect('close')
      return 'end'
    }
    if (word.text === 'else') {
      if (this.#peek()?.kind === 'close') this.#at++
      return 'else'
    }
    return this.#control(word.text as 'if' | 'with' | 'range', depth)
  }

  #control(kind: 'if' | 'with' | 'range', depth: number): Block {
    const pipe = this.#pipe('close')
    const { blocks: body, end } = this.blocks(depth + 1)
    if (end === undefined) throw new StageError(`statusTemplate: {{${kind}}} has no {{end}}`)
    return { kind, pipe, body, other: end === 'else' ? this.#otherwise(depth) : [] }
  }

  /** After `else`: another `if` or `with`, which shares the `end`, or blocks of its own. */
  #otherwise(depth: number): Block[] {
    const next = this.#peek()
    const isChained = this.#lexemes[this.#at - 1]?.kind !== 'close'
    if (isChained) {
      if (next?.kind !== 'word' || (next.text !== 'if' && next.text !== 'with')) throw this.#unexpected(next)
      this.#at++
      return [this.#control(next.text, depth + 1)]
    }
    const { blocks, end } = this.blocks(depth + 1)
    if (end !== 'end') throw new StageError('statusTemplate: {{else}} has no {{end}}')
    return blocks
  }

  #pipe(closing: 'close' | ')'): Pipe {
    const { variables, declares } = this.#assigned()
    const commands: Command[] = [this.#command()]
    for (;;) {
      const next = this.#lexemes[this.#at++]
      if (next?.kind === closing) return { variables, declares, commands }
      if (next?.kind !== '|') throw this.#unexpected(next)
      commands.push(this.#command())
    }
  }

  #assigned(): Pick<Pipe, 'variables' | 'declares'> {
    const [first, second, third, fourth] = this.#lexemes.slice(this.#at, this.#at + 4)
    if (first?.kind !== 'variable' || first.path.length > 0) return { variables: [], declares: false }
    const isAssignment = (lexeme: Lexeme | undefined) => lexeme?.kind === ':=' || lexeme?.kind === '='
    if (isAssignment(second)) {
      this.#at += 2
      return { variables: [first.name], declares: second!.kind === ':=' }
    }
    if (second?.kind === ',' && third?.kind === 'variable' && isAssignment(fourth)) {
      this.#at += 4
      return { variables: [first.name, third.name], declares: fourth!.kind === ':=' }
    }
    return { variables: [], declares: false }
  }

  #command(): Command {
    const words: Operand[] = []
    for (let operand = this.#operand(); operand !== undefined; operand = this.#operand()) words.push(operand)
    if (words.length === 0) throw this.#unexpected(this.#peek())
    if (words.length > 1 && words[0]!.kind !== 'function')
      throw new StageError('statusTemplate: what is called is no function')
    return { words }
  }

  #operand(): Operand | undefined {
    const next = this.#peek()
    if (next === undefined) return undefined
    const operand = this.#operandOf(next)
    return operand
  }

  #operandOf(next: Lexeme): Operand | undefined {
    if (next.kind === 'literal') return this.#taken({ kind: 'literal', value: next.value })
    if (next.kind === 'dot') return this.#taken({ kind: 'dot', path: next.path })
    if (next.kind === 'variable') return this.#taken({ kind: 'variable', name: next.name, path: next.path })
    if (next.kind === 'word') {
      if (!this.#hasFunction(next.text))
        throw new StageError(`statusTemplate: there is no ${JSON.stringify(next.text)} here`)
      return this.#taken({ kind: 'function', name: next.text })
    }
    if (next.kind !== '(') return undefined
    this.#at++
    const pipe = this.#pipe(')')
    const after = this.#peek()
    const isPath = after?.kind === 'dot' && after.attached
    if (isPath) this.#at++
    return { kind: 'pipe', pipe, path: isPath ? after.path : [] }
  }

  #taken<T>(operand: T): T {
    this.#at++
    return operand
  }

  #peek(): Lexeme | undefined {
    return this.#lexemes[this.#at]
  }

  #expect(kind: Lexeme['kind']): void {
    const next = this.#lexemes[this.#at++]
    if (next?.kind !== kind) throw this.#unexpected(next)
  }

  #unexpected(lexeme: Lexeme | undefined): StageError {
    return new StageError(
      `statusTemplate: ${lexeme === undefined ? 'it ends too early' : `${lexeme.kind} is not expected where it stands`}`,
    )
  }
}
