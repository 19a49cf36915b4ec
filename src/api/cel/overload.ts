/**
 * Declares CEL functions. A function is a list of overloads, each with its parameter types, result type, implementation
 * and cost.
 */
import type { Budget } from './budget.ts'
import type { Pattern } from './regex.ts'
import type { Size } from './size.ts'
import { type CelType, instantiate, readType, splitTypes } from './types.ts'
import type { Value } from './values.ts'

/** Resources that functions can use at run time in addition to their arguments. */
export interface Run {
  readonly budget: Budget
  /** Returns a compiled pattern. Throws CelError if the pattern is invalid. */
  readonly pattern: (text: string) => Pattern
}

/** Computes the result of a call. Throws CelError if the arguments are invalid. */
export type Implementation = (run: Run, args: readonly Value[]) => Value

/** Properties of an argument that are known before evaluation, for the cost estimate. */
export interface Estimated {
  readonly size: Size
  /** Size of the elements, if the argument is a list of strings or bytes. */
  readonly textSize?: Size | undefined
  /** The value of the argument. Undefined unless the argument is a constant. */
  readonly constant?: Value | undefined
}

/** The maximum cost of a call, excluding the cost of its arguments, and the size of the result if known. */
export interface CallEstimate {
  readonly cost: number
  readonly size?: Size
}

export interface Costs {
  /** Returns the cost of a call, charged before the call. Defaults to 1. */
  readonly actual?: (args: readonly Value[]) => number
  /** Returns an additional cost that depends on the result and is charged after the call. */
  readonly ofResult?: (result: Value) => number
  readonly estimate?: (args: readonly Estimated[]) => CallEstimate
}

/** A variant of a function, created with `define`. */
export interface Overload extends Costs {
  /** Kubernetes minor version that introduced the function. Undefined if all versions that support rules have it. */
  readonly since?: number
  /** Whether the overload applies only to arguments whose types are unknown before evaluation. */
  readonly forDynamic?: boolean
  /** Whether the function is available only in expressions that create objects. */
  readonly forMutations?: boolean
  readonly isMember: boolean
  /** Creates a new signature for each call, because matching the arguments of a call binds the type parameters. */
  readonly signature: () => Signature
  /**
   * Returns the kinds of the parameter types. If argument types are unknown, these kinds determine which overload is
   * selected at run time.
   */
  readonly kinds: () => readonly CelType['kind'][]
  readonly call: Implementation
}

export interface Signature {
  readonly params: readonly CelType[]
  readonly result: CelType
}

/** The overloads of each function, by name. */
export type Functions = ReadonlyMap<string, readonly Overload[]>

/**
 * Declares an overload of a function. `define('string.(string) bool',...)` declares a method of strings, and
 * `define('(string) int',...)` declares a function.
 */
export function define(form: string, call: Implementation, costs: Costs = {}): Overload {
  // Most functions are never called, so a declaration is parsed only when an expression first calls its function.
  let parsed: Declaration | undefined
  const declaration = () => {
    parsed ??= parseDeclaration(form)
    return parsed
  }
  return {
    isMember: !form.startsWith('('),
    signature: () => newSignature(declaration()),
    kinds: () => declaration().kinds,
    call,
    ...costs,
  }
}

interface Declaration extends Signature {
  readonly kinds: readonly CelType['kind'][]
  readonly hasTypeParameters: boolean
}

function parseDeclaration(form: string): Declaration {
  const match = /^(?:(.*)\.)?\((.*)\) (.+)$/.exec(form)
  if (match === null) throw new TypeError(`invalid function signature: ${form}`)
  const [, target, list = '', resultText = ''] = match
  const texts = target === undefined ? splitTypes(list) : [target, ...splitTypes(list)]
  const parameters = new Map<string, CelType>()
  const params = texts.map((text) => readType(text, parameters))
  const result = readType(resultText, parameters)
  return { params, result, kinds: params.map(({ kind }) => kind), hasTypeParameters: parameters.size > 0 }
}

function newSignature(declaration: Declaration): Signature {
  if (!declaration.hasTypeParameters) return declaration
  const fresh = new Map<CelType, CelType>()
  return {
    params: declaration.params.map((type) => instantiate(type, fresh)),
    result: instantiate(declaration.result, fresh),
  }
}

/**
 * Sets the Kubernetes version that introduced the functions of a table. Functions that existed before Kubernetes 1.28
 * have no version.
 */
export function introducedIn(since: number, functions: Functions): Functions {
  return new Map([...functions].map(([name, known]) => [name, known.map((overload) => ({ ...overload, since }))]))
}

/** Merges tables of functions. Overloads of functions with the same name are combined. */
export function joinTables(tables: readonly Functions[]): Functions {
  const joined = new Map<string, readonly Overload[]>()
  for (const table of tables)
    for (const [name, overloads] of table) joined.set(name, [...(joined.get(name) ?? []), ...overloads])
  return joined
}
