/**
 * Carries out a parsed template on an object. Its output and its steps are bounded: what a stage's author wrote meets
 * objects that others wrote.
 */
import { isObject, type Json, own } from '../../../model/json.ts'
import { StageError } from '../stage-error.ts'
import { builtInFunctions, printed, type TemplateFunction } from './functions.ts'
import { type Block, type Command, type Operand, type Pipe, parseTemplate } from './parser.ts'

/** Functions that depend on the place where a template is carried out, such as `Now` and `NodeIP`. */
export type PlaceFunctions = { readonly [name: string]: TemplateFunction }

/** Returns the text that a template makes of an object. Throws StageError. */
export type Template = (object: Json, functions: PlaceFunctions) => string

const maxSteps = 100_000
const maxOutput = 1024 * 1024

/** `placeFunctions`: the names of the functions that every call will bring along. Throws StageError. */
export function compileTemplate(text: string, placeFunctions: ReadonlySet<string>): Template {
  const isKnown = (name: string) => placeFunctions.has(name) || Object.hasOwn(builtInFunctions, name)
  const blocks = parseTemplate(text, isKnown)
  return (object, functions) => {
    const run = new Run({ ...builtInFunctions, ...functions }, object)
    run.blocks(blocks, object)
    return run.output
  }
}

type Control = Extract<Block, { body: unknown }>

class Run {
  output = ''
  readonly #functions: PlaceFunctions
  /** The newest last: a block forgets its own when it ends. */
  readonly #variables: { readonly name: string; value: Json }[] = []
  #steps = 0

  constructor(functions: PlaceFunctions, root: Json) {
    this.#functions = functions
    this.#variables.push({ name: '', value: root })
  }

  blocks(blocks: readonly Block[], dot: Json): void {
    const before = this.#variables.length
    for (const block of blocks) this.#block(block, dot)
    this.#variables.length = before
  }

  #block(block: Block, dot: Json): void {
    if (++this.#steps > maxSteps) throw new StageError(`statusTemplate takes more than ${maxSteps} steps`)
    if (block.kind === 'text') this.#write(block.text)
    else if (block.kind === 'print') this.#print(block.pipe, dot)
    else this.#control(block, dot)
  }

  #print(pipe: Pipe, dot: Json): void {
    const value = this.#pipe(pipe, dot)
    if (pipe.variables.length === 0) this.#write(printed(value))
  }

  #control(block: Control, dot: Json): void {
    const before = this.#variables.length
    if (block.kind === 'range') this.#range(block, dot)
    else {
      const value = this.#pipe(block.pipe, dot)
      if (isTrue(value)) this.blocks(block.body, block.kind === 'with' ? value : dot)
      else this.blocks(block.other, dot)
    }
    this.#variables.length = before
  }

  #range({ pipe, body, other }: Control, dot: Json): void {
    const value = this.#pipe({ ...pipe, variables: [] }, dot)
    const entries = entriesOf(value)
    if (entries.length === 0) this.blocks(other, dot)
    const [first, second] = pipe.variables
    for (const [key, element] of entries) {
      const before = this.#variables.length
      if (second !== undefined) this.#variables.push({ name: first!, value: key }, { name: second, value: element })
      else if (first !== undefined) this.#variables.push({ name: first, value: element })
      this.blocks(body, element)
      this.#variables.length = before
    }
  }

  #pipe({ variables, declares, commands }: Pipe, dot: Json): Json {
    let value: Json | undefined
    for (const command of commands) value = this.#command(command, dot, value)
    for (const name of variables)
      if (declares) this.#variables.push({ name, value: value! })
      else this.#assign(name, value!)
    return value!
  }

  #assign(name: string, value: Json): void {
    const known = this.#variables.findLast((variable) => variable.name === name)
    if (known === undefined) throw new StageError(`statusTemplate: there is no variable $${name}`)
    known.value = value
  }

  #command({ words: [first, ...others] }: Command, dot: Json, piped: Json | undefined): Json {
    const last = piped === undefined ? [] : [piped]
    if (first!.kind !== 'function') return this.#operand(first!, dot)
    if (++this.#steps > maxSteps) throw new StageError(`statusTemplate takes more than ${maxSteps} steps`)
    const call = this.#functions[first!.name]!
    return call(...others.map((word) => this.#operand(word, dot)), ...last)
  }

  #operand(operand: Operand, dot: Json): Json {
    if (operand.kind === 'literal') return operand.value
    if (operand.kind === 'function') return this.#functions[operand.name]!()
    if (operand.kind === 'dot') return at(dot, operand.path)
    if (operand.kind === 'pipe') return at(this.#pipe(operand.pipe, dot), operand.path)
    const known = this.#variables.findLast(({ name }) => name === operand.name)
    if (known === undefined) throw new StageError(`statusTemplate: there is no variable $${operand.name}`)
    return at(known.value, operand.path)
  }

  #write(text: string): void {
    this.output += text
    if (this.output.length > maxOutput) throw new StageError(`statusTemplate makes more than ${maxOutput} characters`)
  }
}

/** A missing field is null, as it is nil in Go. */
function at(value: Json, path: readonly string[]): Json {
  return path.reduce<Json>((found, key) => (isObject(found) ? (own(found, key) ?? null) : null), value)
}

function entriesOf(value: Json): [Json, Json][] {
  if (Array.isArray(value)) return value.map((element, i) => [i, element])
  if (isObject(value))
    return Object.keys(value)
      .sort()
      .map((key) => [key, own(value, key) ?? null])
  return typeof value === 'number' ? Array.from({ length: Math.min(value, 10_000) }, (_, i) => [i, i]) : []
}

/** What counts as true in Go's templates. */
function isTrue(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value)
}
