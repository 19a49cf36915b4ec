/**
 * Executes a Go template on a value. A missing value is printed as `<no value>`, unless the caller makes it an error.
 * Unbounded recursion and unbounded output are rejected. A template function throws TypeError for an invalid argument.
 */
import { isObject, own } from '../json/json.ts'
import type { TemplateFunctions } from './functions.ts'
import { templateError } from './template-error.ts'
import type { Branch, Command, Node, Operand, Pipeline, Template } from './tree.ts'
import { isTrue, keysOf, plainText, typeName, type Value } from './values.ts'

export interface FillOptions {
  /** Whether a missing field is an error or is printed as `<no value>`. */
  readonly missingKeys: 'allow' | 'refuse'
  /** Functions that the template can call in addition to the built-in ones. */
  readonly functions: TemplateFunctions
  readonly limits?: FillLimits
}

export interface FillLimits {
  /** Maximum number of steps. Each node, call and range element is a step, and long values count as several steps. */
  readonly steps: number
  /** Maximum length, in characters, of the output and of each intermediate string. */
  readonly characters: number
}

/** Executes a template and returns its output. Throws TemplateError if the execution fails. */
export function fillGoTemplate(template: Template, value: Value, options: FillOptions): string {
  const run = new Run(template, options)
  try {
    run.nodes(template.nodes, { dot: value, variables: [['$', value]] })
  } catch (error) {
    // The stack overflows if the template builds a value that is nested very deeply, or calls itself in nested branches.
    if (!(error instanceof RangeError)) throw error
    throw templateError(template.text, 0, 'it is nested too deeply')
  }
  return run.text()
}

/** Maximum depth of nested template calls. */
const maxDepth = 1000
/** Number of characters that a function can process in one step. */
const charactersPerStep = 64
/** Number of steps charged for an operand. */
const operandSteps = 1 / 16
/**
 * Maximum size of a value, as a multiple of the maximum length of the output. Even the largest objects in a store are
 * smaller.
 */
const maxSizeFactor = 4
const defaultLimits: FillLimits = { steps: 50_000_000, characters: 256 * 1024 * 1024 }

interface Scope {
  readonly dot: Value
  /** The variables in scope, newest last. An assignment replaces the value of an existing variable. */
  readonly variables: [name: string, value: Value][]
}

/** How the execution of a list of nodes ended: at its end, or with `break` or `continue`. */
type Ending = 'end' | 'break' | 'continue'

class Run {
  readonly #template: Template
  readonly #options: FillOptions
  readonly #limits: FillLimits
  readonly #parts: string[] = []
  /** The sizes of lists and maps. A template can build a value that is small in memory but large when printed. */
  readonly #sizes = new Map<object, number>()
  #length = 0
  #steps = 0
  #depth = 0

  constructor(template: Template, options: FillOptions) {
    this.#template = template
    this.#options = options
    this.#limits = options.limits ?? defaultLimits
  }

  text(): string {
    return this.#parts.join('')
  }

  nodes(nodes: readonly Node[], scope: Scope): Ending {
    for (const node of nodes) {
      const ending = this.#node(node, scope)
      if (ending !== 'end') return ending
    }
    return 'end'
  }

  #node(node: Node, scope: Scope): Ending {
    this.#step()
    if (node.kind === 'text') this.#write(node.text)
    else if (node.kind === 'action') this.#action(node.pipeline, scope)
    else if (node.kind === 'template') this.#call(node, scope)
    else if (node.kind === 'break' || node.kind === 'continue') return node.kind
    else return this.#branch(node, scope)
    return 'end'
  }

  #step(count = 1): void {
    this.#steps += count
    if (this.#steps > this.#limits.steps)
      throw templateError(this.#template.text, 0, `it takes more than ${this.#limits.steps} steps`)
  }

  /** Counts the steps of a function that processes all of these values. */
  #process(values: readonly Value[]): void {
    for (const value of values) this.#step(this.#sizeOf(value) / charactersPerStep)
  }

  /** Returns the approximate length of a value's printed form, in characters. */
  #sizeOf(value: Value): number {
    if (typeof value === 'string') return value.length
    if (typeof value !== 'object' || value === null) return 1
    const known = this.#sizes.get(value)
    if (known !== undefined) return known
    let size = 1
    if (Array.isArray(value)) for (const item of value) size += this.#sizeOf(item)
    else for (const key of Object.keys(value)) size += key.length + this.#sizeOf(value[key])
    if (size > maxSizeFactor * this.#limits.characters)
      throw templateError(this.#template.text, 0, `it produces a value of more than ${size} characters`)
    this.#sizes.set(value, size)
    return size
  }

  /** Like `isTrue`, but counts the members of a map only once. */
  #isTrue(value: Value): boolean {
    return typeof value === 'object' && value !== null ? this.#sizeOf(value) > 1 : isTrue(value)
  }

  #assertShort(length: number): void {
    if (length > this.#limits.characters)
      throw templateError(this.#template.text, 0, `it produces more than ${this.#limits.characters} characters`)
  }

  #action(pipeline: Pipeline, scope: Scope): void {
    const value = this.#pipeline(pipeline, scope)
    this.#set(pipeline, scope, [value])
    if (pipeline.variables.length > 0) return
    this.#process([value])
    this.#write(value == null ? '<no value>' : plainText(value))
  }

  #write(text: string): void {
    this.#length += text.length
    this.#assertShort(this.#length)
    this.#parts.push(text)
  }

  /** Assigns values to the variables of a pipeline, or declares them if the pipeline uses `:=`. */
  #set({ variables, declares }: Pipeline, scope: Scope, values: readonly Value[]): void {
    for (const [i, name] of variables.entries()) {
      const variable = declares ? undefined : scope.variables.findLast(([other]) => other === name)
      if (variable === undefined) scope.variables.push([name, values[i]])
      else variable[1] = values[i]
    }
  }

  #branch(node: Branch, outer: Scope): Ending {
    const scope = { dot: outer.dot, variables: [...outer.variables] }
    const value = this.#pipeline(node.pipeline, scope)
    if (node.kind === 'range') return this.#range(node, scope, value)
    this.#set(node.pipeline, scope, [value])
    if (!this.#isTrue(value)) return this.nodes(node.otherwise, scope)
    return this.nodes(node.body, node.kind === 'with' ? { ...scope, dot: value } : scope)
  }

  #range(node: Branch, scope: Scope, value: Value): Ending {
    this.#process([value])
    const elements = this.#elements(node, value)
    if (elements.length === 0) return this.nodes(node.otherwise, scope)
    for (const [key, element] of elements) {
      this.#step()
      const inner = { dot: element, variables: [...scope.variables] }
      this.#set(node.pipeline, inner, node.pipeline.variables.length === 2 ? [key, element] : [element])
      if (this.nodes(node.body, inner) === 'break') break
    }
    return 'end'
  }

  #elements({ at }: Branch, value: Value): (readonly [Value, Value])[] {
    if (value == null) return []
    if (Array.isArray(value)) return value.map((element, i) => [i, element])
    if (isObject(value)) return keysOf(value).map((key) => [key, value[key]])
    throw templateError(this.#template.text, at, `range can't iterate over ${plainText(value)}`)
  }

  #call({ name, pipeline, at }: Extract<Node, { kind: 'template' }>, scope: Scope): void {
    const nodes = this.#template.defined.get(name)
    if (nodes === undefined)
      throw templateError(this.#template.text, at, `template ${JSON.stringify(name)} not defined`)
    if (this.#depth >= maxDepth)
      throw templateError(this.#template.text, at, `templates are nested more than ${maxDepth} levels deep`)
    const dot = pipeline === undefined ? undefined : this.#pipeline(pipeline, scope)
    this.#depth++
    this.nodes(nodes, { dot, variables: [['$', dot]] })
    this.#depth--
  }

  #pipeline({ commands }: Pipeline, scope: Scope): Value {
    let value: Value
    for (const [i, command] of commands.entries()) value = this.#command(command, scope, i === 0 ? [] : [{ value }])
    return value
  }

  /**
   * Executes a command. `piped` is the result of the preceding command in the pipeline, and is empty for the first
   * command.
   */
  #command([first, ...args]: Command, scope: Scope, piped: readonly { readonly value: Value }[]): Value {
    if (first.kind === 'function') return this.#function(first, args, { scope, piped })
    if (first.kind === 'nil') throw templateError(this.#template.text, first.at, 'nil is not a command')
    if (args.length > 0 || piped.length > 0)
      throw templateError(this.#template.text, first.at, "can't give argument to non-function")
    return this.#operand(first, scope)
  }

  #function(
    { name, at }: Extract<Operand, { kind: 'function' }>,
    args: readonly Operand[],
    { scope, piped }: { scope: Scope; piped: readonly { readonly value: Value }[] },
  ): Value {
    if (name === 'and' || name === 'or') {
      if (args.length + piped.length === 0) throw templateError(this.#template.text, at, `${name} requires arguments`)
      let value: Value
      for (const arg of args) {
        value = this.#operand(arg, scope)
        if (this.#isTrue(value) === (name === 'or')) return value
      }
      return piped.length === 0 ? value : piped[0]!.value
    }
    this.#step()
    const values = [...args.map((arg) => this.#operand(arg, scope)), ...piped.map(({ value }) => value)]
    this.#process(values)
    try {
      const made = this.#options.functions.get(name)!(...values)
      if (typeof made === 'string') this.#assertShort(made.length)
      this.#process([made])
      return made
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw templateError(this.#template.text, at, `error calling ${name}: ${error.message}`)
    }
  }

  #operand(operand: Operand, scope: Scope): Value {
    this.#step(operandSteps)
    if (operand.kind === 'dot') return scope.dot
    if (operand.kind === 'nil') return undefined
    if (operand.kind === 'literal') return operand.value
    if (operand.kind === 'variable') return scope.variables.findLast(([name]) => name === operand.name)?.[1]
    if (operand.kind === 'pipeline') return this.#pipeline(operand.pipeline, scope)
    if (operand.kind === 'function') return this.#function(operand, [], { scope, piped: [] })
    return operand.names.reduce((value, name) => this.#field(value, name, operand.at), this.#operand(operand.of, scope))
  }

  #field(value: Value, name: string, at: number): Value {
    this.#step(operandSteps)
    const refuses = this.#options.missingKeys === 'refuse'
    if (value == null && !refuses) return undefined
    if (isObject(value)) {
      const field = own(value, name)
      if (field === undefined && refuses)
        throw templateError(this.#template.text, at, `map has no entry for key ${JSON.stringify(name)}`)
      return field
    }
    throw templateError(
      this.#template.text,
      at,
      value == null
        ? `nil data; no entry for key ${JSON.stringify(name)}`
        : `can't evaluate field ${name} in type ${typeName(value)}`,
    )
  }
}
