/**
 * Compiles a checked expression into closures, one per node, so that names and functions are resolved only once. Costs
 * are charged during evaluation. Evaluation errors are thrown as CelError, and BudgetExceeded is thrown if the budget
 * is exhausted.
 */
import { type Call, type Fold, type Identifier, type Node, operands, type Select, type StructLiteral } from './ast.ts'
import { qualifiedName, typeNames } from './checker.ts'
import { foldCosts, listCost, mapCost, structCost } from './cost.ts'
import { selfComparison, sorted } from './functions/collections.ts'
import type { Overload, Run } from './overload.ts'
import { type CelType, isDynamic, resolve } from './types.ts'
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  kindOf,
  LiteralMap,
  none,
  Optional,
  StructValue,
  TypeValue,
  type Value,
} from './values.ts'

/** Values of all variables during one evaluation: first the declared variables, then the macro variables. */
export interface Frame extends Run {
  readonly variables: Value[]
}

export type Evaluate = (frame: Frame) => Value

/** Compiles an expression. `names` contains the declared variables in the order of their values. */
export function compile(root: Node, names: readonly string[]): Evaluate {
  return new Compiler(names).compile(root)
}

class Compiler {
  readonly #names: string[]

  constructor(names: readonly string[]) {
    this.#names = [...names]
  }

  compile(node: Node): Evaluate {
    switch (node.kind) {
      case 'literal': {
        const { value } = node
        return () => value
      }
      case 'identifier':
        return this.#identifier(node)
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list': {
        const elements = node.elements.map((element) => this.compile(element))
        const { optionals } = node
        if (optionals !== undefined && optionals.size > 0) return sparseList(elements, optionals)
        return (frame) => {
          frame.budget.charge(listCost)
          return new ArrayList(elements.map((element) => element(frame)))
        }
      }
      case 'map':
        return mapOf(
          node.entries.map(([key, value]) => [this.compile(key), this.compile(value)] as const),
          node.optionals,
        )
      case 'struct':
        return structOf(
          node,
          node.fields.map(({ value }) => this.compile(value)),
        )
      case 'fold':
        return this.#fold(node)
    }
  }

  #identifier({ name }: Identifier): Evaluate {
    const slot = this.#names.lastIndexOf(name)
    if (slot < 0) return typeValue(name)
    return ({ budget, variables }) => {
      budget.charge(1)
      return variables[slot]!
    }
  }

  /** Whether a loop variable shadows the first component of a qualified name. */
  #isShadowed(named: string): boolean {
    return this.#names.lastIndexOf(named.slice(0, named.indexOf('.'))) > this.#names.lastIndexOf(named)
  }

  #select(node: Select): Evaluate {
    const { field, isTest } = node
    const named = qualifiedName(node)
    if (named !== undefined && this.#names.includes(named) && !this.#isShadowed(named))
      return this.#identifier({ ...node, kind: 'identifier', name: named })
    if (named !== undefined && typeNames.has(named)) return typeValue(named)
    const operand = this.compile(node.operand)
    if (isTest) return (frame) => hasMember(operand(frame), field)
    return (frame) => {
      const member = memberOf(operand(frame), field)
      frame.budget.charge(1)
      if (member === undefined) throw new CelError(`no such key: ${field}`)
      return member
    }
  }

  #call(node: Call): Evaluate {
    const args = operands(node).map((operand) => this.compile(operand))
    if (node.name === '_&&_' || node.name === '_||_') return logic(args, node.name)
    if (node.name === '_?_:_') return conditional(args)
    if (node.name === '_?._') return optionalField(args)
    const overloads = node.overloads!
    const isKnown = overloads.length === 1 && operands(node).every(({ type }) => isStatic(type!))
    const invoke = isKnown ? direct(overloads[0]!) : dispatched(overloads)
    const [first, second] = args
    if (args.length === 1) return (frame) => invoke(frame, [first!(frame)])
    if (args.length === 2) return (frame) => invoke(frame, [first!(frame), second!(frame)])
    return (frame) => {
      const values = args.map((arg) => arg(frame))
      return invoke(frame, values)
    }
  }

  #fold(node: Fold): Evaluate {
    const range = this.compile(node.range)
    const names = this.#names.length
    const slot = this.#names.push(node.variable) - 1
    if (node.second !== undefined) this.#names.push(node.second)
    const predicate = node.predicate && this.compile(node.predicate)
    const transform = node.transform && this.compile(node.transform)
    this.#names.length = names
    if (node.macro === 'optMap' || node.macro === 'optFlatMap')
      return optionalMapping(range, transform!, { slot, isFlat: node.macro === 'optFlatMap' })
    if (node.macro === 'bind') return bound(range, transform!, slot)
    const isPair = node.second !== undefined
    const loop = loops[node.macro]({ predicate: predicate!, transform: transform!, hasPredicate: !!predicate })
    const { begin, each } = foldCosts[node.macro]
    return (frame) => {
      const { count, at } = isPair ? pairsOf(frame, range(frame)) : itemsOf(frame, range(frame))
      frame.budget.charge(begin)
      return loop(frame, (visit) => {
        for (let i = 0; i < count; i++) {
          frame.budget.charge(each)
          const item = at(i)
          if (isPair) {
            const [index, value] = item as unknown as readonly [Value, Value]
            frame.variables[slot] = index
            frame.variables[slot + 1] = value
            if (visit(index) === 'stop') return
            continue
          }
          frame.variables[slot] = item
          if (visit(item) === 'stop') return
        }
      })
    }
  }
}

/** Whether the type of a value is known before evaluation. */
function isStatic(type: CelType): boolean {
  return !isDynamic(type) && resolve(type).kind !== 'any'
}

function typeValue(name: string): Evaluate {
  const value = new TypeValue(name)
  return ({ budget }) => {
    budget.charge(1)
    return value
  }
}

/** Returns a member of an object, or undefined if the object does not have the member. */
function memberOf(value: Value, field: string): Value | undefined {
  if (value instanceof CelMap) return value.get(field)
  if (value instanceof Optional) return value.value === undefined ? none : new Optional(memberOf(value.value, field))
  throw new CelError('no such overload')
}

function hasMember(value: Value, field: string): boolean {
  if (value instanceof CelMap) return value.has(field)
  const member = memberOf(value, field)
  return member instanceof Optional ? member.value !== undefined : member !== undefined
}

/** Evaluates `a.?b` on an object or on the value of an optional. */
function optionalField([operand, field]: readonly Evaluate[]): Evaluate {
  return (frame) => {
    frame.budget.charge(1)
    const member = memberOf(operand!(frame), field!(frame) as string)
    return member instanceof Optional ? member : new Optional(member)
  }
}

function optionalValue(value: Value): Value | undefined {
  if (value instanceof Optional) return value.value
  throw new CelError('no such overload')
}

/** Evaluates a list literal with optional elements. */
function sparseList(elements: readonly Evaluate[], optionals: ReadonlySet<number>): Evaluate {
  return (frame) => {
    frame.budget.charge(listCost)
    const values = elements.map((element, i) => {
      const value = element(frame)
      return optionals.has(i) ? optionalValue(value) : value
    })
    return new ArrayList(values.filter((value) => value !== undefined))
  }
}

function mapOf(entries: readonly (readonly [Evaluate, Evaluate])[], optionals?: ReadonlySet<number>): Evaluate {
  return (frame) => {
    frame.budget.charge(mapCost)
    const found: [Value, Value][] = []
    for (const [i, [key, value]] of entries.entries()) {
      const [name, item] = [key(frame), value(frame)]
      const present = optionals?.has(i) ? optionalValue(item) : item
      if (present !== undefined) found.push([name, present])
    }
    const map = new LiteralMap(found)
    if (map.size < found.length) throw new CelError('Failed with repeated key')
    return map
  }
}

function structOf({ name, fields }: StructLiteral, values: readonly Evaluate[]): Evaluate {
  return (frame) => {
    frame.budget.charge(structCost)
    const members = new Map<string, Value>()
    for (const [i, field] of fields.entries()) {
      const found = values[i]!(frame)
      const value = field.isOptional ? optionalValue(found) : found
      if (value !== undefined) members.set(field.name, value)
    }
    return new StructValue(name, members)
  }
}

interface OptionalMapping {
  readonly slot: number
  /**
   * Whether the result is itself an optional, as for `optFlatMap`. For `optMap`, the result is wrapped in an optional.
   */
  readonly isFlat: boolean
}

function optionalMapping(range: Evaluate, transform: Evaluate, { slot, isFlat }: OptionalMapping): Evaluate {
  return (frame) => {
    frame.budget.charge(1)
    const value = optionalValue(range(frame))
    if (value === undefined) return none
    frame.variables[slot] = value
    const result = transform(frame)
    return isFlat ? result : new Optional(result)
  }
}

function bound(value: Evaluate, transform: Evaluate, slot: number): Evaluate {
  return (frame) => {
    frame.budget.charge(foldCosts.bind.begin)
    frame.variables[slot] = value(frame)
    return transform(frame)
  }
}

/** Returns the pairs over which a macro with two variables iterates: index and element, or key and value. */
function pairsOf(frame: Frame, range: Value): { readonly count: number; readonly at: (index: number) => Value } {
  const pair = (key: Value, value: Value) => [key, value] as unknown as Value
  if (range instanceof CelList) return { count: range.size, at: (i) => pair(i, range.get(i)) }
  const { count, at } = itemsOf(frame, range)
  return { count, at: (i) => pair(at(i), (range as CelMap).get(at(i))!) }
}

/** Cost of listing one key of a map, in budget steps. */
const stepsPerKey = 8

/** Returns the items over which a macro with one variable iterates: the elements of a list, or the keys of a map. */
function itemsOf({ budget }: Frame, range: Value): { readonly count: number; readonly at: (index: number) => Value } {
  if (range instanceof CelList) return { count: range.size, at: (index) => range.get(index) }
  if (range instanceof CelMap) {
    budget.startClock()
    const keys = range.keys()
    budget.work(stepsPerKey * keys.length)
    return { count: keys.length, at: (index) => keys[index]! }
  }
  throw new CelError('no such overload')
}

type Invoke = (frame: Frame, args: readonly Value[]) => Value

function direct({ call, actual, ofResult }: Overload): Invoke {
  return (frame, args) => {
    frame.budget.charge(actual === undefined ? 1 : actual(args))
    const result = call(frame, args)
    if (ofResult !== undefined) frame.budget.charge(ofResult(result))
    return result
  }
}

/** Returns a function that selects an overload at run time, by the types of the actual arguments. */
function dispatched(overloads: readonly Overload[]): Invoke {
  const choices = overloads.map((overload) => ({ kinds: overload.kinds(), invoke: direct(overload) }))
  return (frame, args) => {
    const actual = args.map(kindOf)
    const chosen = choices.find(({ kinds }) => kinds.every((kind, i) => fits(kind, actual[i]!)))
    if (chosen === undefined) throw new CelError('no such overload')
    return chosen.invoke(frame, args)
  }
}

function fits(kind: CelType['kind'], actual: CelType['kind']): boolean {
  return kind === 'variable' || kind === 'dyn' || kind === actual
}

/**
 * Evaluates `&&` or `||`. If one operand determines the result, the other operand is ignored, even if its evaluation
 * fails.
 */
function logic([left, right]: readonly Evaluate[], operator: '_&&_' | '_||_'): Evaluate {
  const deciding = operator === '_||_'
  return (frame) => {
    const first = attempt(left!, frame)
    if (first === deciding) return deciding
    const second = attempt(right!, frame)
    if (second === deciding) return deciding
    if (first instanceof CelError) throw first
    if (second instanceof CelError) throw second
    return !deciding
  }
}

/** Evaluates an operand to a bool. An evaluation error is returned instead of thrown. */
function attempt(evaluate: Evaluate, frame: Frame): boolean | CelError {
  try {
    const value = evaluate(frame)
    return typeof value === 'boolean' ? value : new CelError('no such overload')
  } catch (error) {
    if (error instanceof CelError) return error
    throw error
  }
}

function conditional([condition, then, otherwise]: readonly Evaluate[]): Evaluate {
  return (frame) => {
    const decided = condition!(frame)
    if (typeof decided !== 'boolean') throw new CelError('no such overload')
    return decided ? then!(frame) : otherwise!(frame)
  }
}

interface Parts {
  readonly predicate: Evaluate
  readonly transform: Evaluate
  readonly hasPredicate: boolean
}

type Walk = (visit: (item: Value) => 'stop' | undefined) => void
type Loop = (frame: Frame, walk: Walk) => Value

/**
 * Evaluates `all` or `exists`. The loop ends at the first element that determines the result. If there is no such
 * element and a condition failed to evaluate, the result is the first error.
 */
function quantifier(macro: 'all' | 'exists'): (parts: Parts) => Loop {
  const deciding = macro === 'exists'
  return ({ predicate }) =>
    (frame, walk) => {
      let fault: CelError | undefined
      let isDecided = false
      walk(() => {
        const result = attempt(predicate, frame)
        if (result instanceof CelError) fault ??= result
        isDecided = result === deciding
        return isDecided ? 'stop' : undefined
      })
      if (!isDecided && fault !== undefined) throw fault
      return isDecided ? deciding : !deciding
    }
}

function holds(predicate: Evaluate, frame: Frame): boolean {
  const result = predicate(frame)
  if (typeof result !== 'boolean') throw new CelError('no such overload')
  return result
}

const countOne =
  ({ predicate }: Parts): Loop =>
  (frame, walk) => {
    let count = 0
    walk(() => {
      if (holds(predicate, frame)) count++
      return undefined
    })
    return count === 1
  }

const collect =
  ({ predicate, transform, hasPredicate }: Parts): Loop =>
  (frame, walk) => {
    const results: Value[] = []
    walk(() => {
      if (!hasPredicate || holds(predicate, frame)) results.push(transform(frame))
      return undefined
    })
    return new ArrayList(results)
  }

/** Sorts elements by the keys that an expression computes for them. */
const sortedByKey =
  ({ transform }: Parts): Loop =>
  (frame, walk) => {
    const items: Value[] = []
    const keys: Value[] = []
    walk((item) => {
      items.push(item)
      keys.push(transform(frame))
      return undefined
    })
    frame.budget.charge(selfComparison(new ArrayList(keys)))
    return sorted(frame, items, keys)
  }

/** Creates a map from the keys of the range, or from the entries of the maps that an expression returns. */
const collectMap =
  (kind: 'entries' | 'values') =>
  ({ predicate, transform, hasPredicate }: Parts): Loop =>
  (frame, walk) => {
    const entries: (readonly [Value, Value])[] = []
    walk((key) => {
      if (hasPredicate && !holds(predicate, frame)) return undefined
      const result = transform(frame)
      if (kind === 'values') entries.push([key, result])
      else if (!(result instanceof CelMap)) throw new CelError('no such overload')
      else for (const each of result.keys()) entries.push([each, result.get(each)!])
      return undefined
    })
    const map = new LiteralMap(entries)
    if (map.size < entries.length) throw new CelError('insert failed: key already exists')
    return map
  }

/**
 * The macros that are loops. The other macros, `optMap`, `optFlatMap` and `bind`, evaluate their expression at most
 * once.
 */
type Iteration = Exclude<Fold['macro'], 'optMap' | 'optFlatMap' | 'bind'>

const loops: { readonly [macro in Iteration]: (parts: Parts) => Loop } = {
  all: quantifier('all'),
  exists: quantifier('exists'),
  exists_one: countOne,
  existsOne: countOne,
  filter:
    ({ predicate }) =>
    (frame, walk) => {
      const matchingItems: Value[] = []
      walk((item) => {
        if (holds(predicate, frame)) matchingItems.push(item)
        return undefined
      })
      return new ArrayList(matchingItems)
    },
  map: collect,
  sortBy: sortedByKey,
  transformList: collect,
  transformMap: collectMap('values'),
  transformMapEntry: collectMap('entries'),
}
