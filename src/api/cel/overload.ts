/**
 * One form of a function: the types that it takes and returns, what it does, and what it costs. The functions of the
 * language are tables of these, written with `define`.
 */
import type { Budget } from './budget.ts'
import type { Pattern } from './regex.ts'
import type { Size } from './size.ts'
import { type CelType, instantiate, readType, splitTypes } from './types.ts'
import type { Value } from './values.ts'

/** What functions may use beside their arguments. */
export interface Run {
  readonly budget: Budget
  /** Throws CelError where the pattern cannot be read. */
  readonly pattern: (text: string) => Pattern
}

export type Implementation = (run: Run, args: readonly Value[]) => Value

/** An argument as it is known before anything is evaluated. */
export interface Estimated {
  readonly size: Size
  /** Of the elements, where it is a list of texts or bytes. */
  readonly textSize?: Size | undefined
}

/** The most that a call can cost beside its arguments, and the size of its result where that is known. */
export interface CallEstimate {
  readonly cost: number
  readonly size?: Size
}

export interface Costs {
  /** The cost of a call, charged before it is made; 1 by default. */
  readonly actual?: (args: readonly Value[]) => number
  /** What is charged when the result is there. */
  readonly ofResult?: (result: Value) => number
  readonly estimate?: (args: readonly Estimated[]) => CallEstimate
}

export interface Overload extends Costs {
  readonly isMember: boolean
  /** Fresh at each call of this function: type parameters are bound to what a call passes. */
  readonly signature: () => Signature
  /** The kinds of the parameters, for arguments whose types are known only when they are there. */
  readonly kinds: readonly CelType['kind'][]
  readonly call: Implementation
}

export interface Signature {
  readonly params: readonly CelType[]
  readonly result: CelType
}

export type Functions = ReadonlyMap<string, readonly Overload[]>

/** `define('string.(string) bool', ...)` is a member of texts, `define('(string) int', ...)` a plain function. */
export function define(form: string, call: Implementation, costs: Costs = {}): Overload {
  const match = /^(?:(.*)\.)?\((.*)\) (.+)$/.exec(form)
  if (match === null) throw new TypeError(`not the form of a function: ${form}`)
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
