/**
 * One overload of a function: its parameter and result types, implementation and cost. All functions are tables of
 * overloads, which `define` creates.
 */
import type { Budget } from './budget.ts'
import type { Pattern } from './regex.ts'
import type { Size } from './size.ts'
import { type CelType, instantiate, readType, splitTypes } from './types.ts'
import type { Value } from './values.ts'

/** The services that functions can use in addition to their arguments. */
export interface Run {
  readonly budget: Budget
  /** Returns the compiled pattern. Throws CelError if the pattern is invalid. */
  readonly pattern: (text: string) => Pattern
}

export type Implementation = (run: Run, args: readonly Value[]) => Value

/** The facts about an argument that are known before evaluation. */
export interface Estimated {
  readonly size: Size
  /** The size of the elements of a list of strings or bytes. */
  readonly textSize?: Size | undefined
  /** The value, if the argument is a constant. */
  readonly constant?: Value | undefined
}

/** The maximum cost of a call without the cost of its arguments, and the size of its result if known. */
export interface CallEstimate {
  readonly cost: number
  readonly size?: Size
}

export interface Costs {
  /** The cost of a call, charged before the call. Defaults to 1. */
  readonly actual?: (args: readonly Value[]) => number
  /** The additional cost of a call, charged once the result is known. */
  readonly ofResult?: (result: Value) => number
  readonly estimate?: (args: readonly Estimated[]) => CallEstimate
}

export interface Overload extends Costs {
  /** First minor version of Kubernetes 1 with this function; undefined if all versions with rules have it. */
  readonly since?: number
  /** Whether the function applies only to arguments whose types are unknown before evaluation. */
  readonly forDynamic?: boolean
  /** Whether the function is available only in expressions that create objects. */
  readonly forMutations?: boolean
  readonly isMember: boolean
  /** Creates a new signature for each call, because the arguments of a call bind the type parameters. */
  readonly signature: () => Signature
  /** The kinds of the parameters, for arguments whose types are known only at run time. */
  readonly kinds: readonly CelType['kind'][]
  readonly call: Implementation
}

export interface Signature {
  readonly params: readonly CelType[]
  readonly result: CelType
}

export type Functions = ReadonlyMap<string, readonly Overload[]>

/**
 * Declares an overload. `define('string.(string) bool', ...)` is a method of strings, `define('(string) int', ...)` is
 * a plain function.
 */
export function define(form: string, call: Implementation, costs: Costs = {}): Overload {
  const match = /^(?:(.*)\.)?\((.*)\) (.+)$/.exec(form)
  if (match === null) throw new TypeError(`invalid function signature: ${form}`)
  const [, target, params = '', result = ''] = match
  const texts = target === undefined ? splitTypes(params) : [target, ...splitTypes(params)]
  const parameters = new Map<string, CelType>()
  const written = { params: texts.map((text) => readType(text, parameters)), result: readType(result, parameters) }
  const signature = () => {
    if (parameters.size === 0) return written
    const fresh = new Map<CelType, CelType>()
    return {
      params: written.params.map((type) => instantiate(type, fresh)),
      result: instantiate(written.result, fresh),
    }
  }
  const kinds = written.params.map(({ kind }) => kind)
  return { isMember: target !== undefined, signature, kinds, call, ...costs }
}

/**
 * Sets the Kubernetes version that introduced these functions. Only for functions that Kubernetes 1.28 or a later
 * version introduced.
 */
export function introducedIn(since: number, functions: Functions): Functions {
  return new Map([...functions].map(([name, known]) => [name, known.map((overload) => ({ ...overload, since }))]))
}

/** Merges tables of functions. Combines the overloads of functions with the same name. */
export function joinTables(tables: readonly Functions[]): Functions {
  const joined = new Map<string, readonly Overload[]>()
  for (const table of tables)
    for (const [name, overloads] of table) joined.set(name, [...(joined.get(name) ?? []), ...overloads])
  return joined
}
