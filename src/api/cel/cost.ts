/**
 * Estimates the maximum cost of an expression from the maximum sizes of the declared types. Kubernetes rejects rules
 * whose estimate is too high, so this estimate must equal the estimate of cel-go, even where actual costs differ. A
 * macro costs as much as the loop to which it expands.
 */
import { type Call, type Fold, type Node, operands, type Select } from './ast.ts'
import { lengthOf } from './compare.ts'
import { type DeclaredType, fieldNamed } from './declared-type.ts'
import type { CallEstimate, Estimated } from './overload.ts'
import { fixedSize, type Size, sortEstimate, times, traversal, unionOf, unknownSize } from './size.ts'
import { type CelType, resolve } from './types.ts'

export const listCost = 10
export const mapCost = 30
export const structCost = 40
/** Fixed costs of looping macros: `begin` is charged once per loop, and `each` once per element. */
export const foldCosts = {
  all: { begin: 1, each: 3 },
  exists: { begin: 1, each: 4 },
  exists_one: { begin: 2, each: 2 },
  filter: { begin: listCost + 1, each: 13 },
  map: { begin: listCost + 1, each: 12 },
  existsOne: { begin: 2, each: 2 },
  transformList: { begin: listCost + 1, each: 12 },
  transformMap: { begin: mapCost + 1, each: 3 },
  transformMapEntry: { begin: mapCost + 1, each: 2 },
  // The cost of `optMap` consists of the test for the value, the value, the list to which the macro expands, and the
  // result.
  optMap: { begin: listCost + 2, each: 1 },
  optFlatMap: { begin: listCost + 2, each: 0 },
  // In cel-go, `cel.bind` expands to a loop over an empty list. The cost of that loop is included here.
  bind: { begin: listCost, each: 0 },
  // In cel-go, `sortBy` expands to `cel.bind` and `map`. The cost includes the two lists that these macros create and
  // the names that refer to the lists.
  sortBy: { begin: listCost + 2 + listCost + 1, each: 12 },
} as const

/** The estimate for an expression: the cost of evaluating it, and the size of its value. */
interface CostEstimate {
  readonly cost: number
  readonly size?: Size | undefined
  /** Path of the value in the declared data. Undefined for a computed value. */
  readonly place?: Place | undefined
}

/** A path in the declared data. `declared` is undefined if the schema has no type for the path. */
interface Place {
  readonly declared: DeclaredType | undefined
}

/** The first Kubernetes minor version whose estimate takes into account the size of lists created by macros. */
const macroSizesSince = 30
/**
 * The first Kubernetes minor version whose estimate assumes that values such as addresses and quantities are compared
 * in constant time.
 */
const opaqueEqualitySince = 32
/**
 * The first Kubernetes minor version whose estimate distinguishes the variable of `optMap` from the value validated by
 * the rule.
 */
const boundVariablesSince = 33

export interface EstimateOptions {
  /** Kubernetes minor version whose estimate is returned. Defaults to the newest version. */
  readonly version?: number | undefined
  /**
   * Whether computed values have an unknown size. By default, computed values are assumed to be as large as the
   * validated value.
   */
  readonly hasUnknownSizes?: boolean | undefined
}

/** Estimates the maximum cost of an expression. `variables` contains the declared types of the variables. */
export function estimateCost(
  root: Node,
  variables: ReadonlyMap<string, DeclaredType>,
  options: EstimateOptions = {},
): number {
  return new Estimator(variables, options).estimate(root).cost
}

const scalars: ReadonlySet<CelType['kind']> = new Set(['bool', 'int', 'uint', 'double', 'timestamp', 'duration'])

function isScalar(type: CelType | undefined): boolean {
  const actual = type && resolve(type)
  if (actual?.kind === 'optional') return isScalar(actual.of)
  return actual !== undefined && scalars.has(actual.kind)
}

/** Assumed maximum size of a named format. The cost of comparing two formats depends on this size. */
const maxFormatSize = 64
const opaqueEqualityCosts: { readonly [kind: string]: number } = {
  ...{ ip: 1, cidr: 1, quantity: 1, semver: 1, url: 1, format: traversal(maxFormatSize) },
  ...{ authorizer: 1, path_check: 1, group_check: 1, resource_check: 1, decision: 1 },
}

/** Kinds of operands for which cel-go charges the cost of a field selection. */
const selectable: ReadonlySet<CelType['kind']> = new Set(['map', 'object', 'variable'])

class Estimator {
  readonly #variables: ReadonlyMap<string, DeclaredType>
  readonly #version: number
  /**
   * Path of the validated value, which determines the assumed size of computed values. The path has no declared type if
   * the size of computed values is unknown.
   */
  readonly #root: Place
  readonly #scopes: { readonly name: string; readonly known: Omit<CostEstimate, 'cost'> }[] = []

  constructor(variables: ReadonlyMap<string, DeclaredType>, { version, hasUnknownSizes }: EstimateOptions) {
    this.#variables = variables
    this.#version = version ?? Number.POSITIVE_INFINITY
    this.#root = { declared: hasUnknownSizes ? undefined : variables.values().next().value }
  }

  estimate(node: Node): CostEstimate {
    switch (node.kind) {
      case 'literal':
        return { cost: 0, size: literalSize(node.value) }
      case 'identifier':
        return { ...this.#estimateOfName(node.name), cost: 1 }
      case 'select':
        return this.#select(node)
      case 'call':
        return this.#call(node)
      case 'list':
        return { cost: listCost + this.#costOf(node.elements), size: fixedSize(node.elements.length) }
      case 'map':
        return { cost: mapCost + this.#costOf(node.entries.flat()), size: fixedSize(node.entries.length) }
      case 'struct':
        return { cost: structCost + this.#costOf(node.fields.map(({ value }) => value)) }
      case 'fold':
        return this.#fold(node)
    }
  }

  #estimateOfName(name: string): Omit<CostEstimate, 'cost'> {
    const local = this.#scopes.findLast((scope) => scope.name === name)
    return local?.known ?? { place: { declared: this.#variables.get(name) ?? this.#root.declared } }
  }

  /**
   * Returns the path of a part of a value. As in cel-go, a part of a computed value is treated as the validated value:
   * for `['a'].all(x, self.b.contains(x))`, the size of `self` is used for `x`.
   */
  #below(place: Place | undefined, part: (declared: DeclaredType) => DeclaredType | undefined): Place {
    if (place === undefined) return this.#root
    return { declared: place.declared && part(place.declared) }
  }

  #elements(place: Place | undefined): Place {
    return this.#below(place, ({ elem }) => elem)
  }

  #select({ operand, field, isTest }: Select): CostEstimate {
    // cel-go represents a qualified name, such as a type name, as a single node, so the whole chain costs 1.
    if (operand.type === undefined) return { cost: 1 }
    const operandEstimate = this.estimate(operand)
    if (isTest) return { cost: operandEstimate.cost, size: fixedSize(1) }
    const isCharged = selectable.has(resolve(operand.type).kind)
    const place = this.#below(operandEstimate.place, ({ fields, anyField }) => {
      return fields === undefined ? anyField : fieldNamed(fields, field)
    })
    return { cost: operandEstimate.cost + (isCharged ? 1 : 0), place }
  }

  #costOf(nodes: readonly Node[]): number {
    return nodes.reduce((sum, node) => sum + this.estimate(node).cost, 0)
  }

  #call(node: Call): CostEstimate {
    const nodes = operands(node)
    const operandEstimates = nodes.map((operand) => this.estimate(operand))
    const cost = operandEstimates.reduce((sum, operand) => sum + operand.cost, 0)
    if (node.name === '_&&_' || node.name === '_||_') return { cost, size: fixedSize(1) }
    if (node.name === '_?_:_') return conditional(operandEstimates, nodes)
    if (node.name === 'dyn') return { cost: cost + 1, size: sizeOf(operandEstimates[0]!, nodes[0]!) }
    const unit = this.#version >= opaqueEqualitySince && node.name === '_==_' ? opaqueEqualityCost(nodes) : undefined
    if (unit !== undefined) return { cost: cost + unit, size: fixedSize(1) }
    const args = operandEstimates.map((operand, i) => this.#estimatedOf(operand, nodes[i]!))
    const estimates = node.overloads?.map(({ estimate }) => estimate?.(args) ?? { cost: 1 }) ?? [{ cost: 1 }]
    const worst = estimates.reduce((most, { cost: each }) => Math.max(most, each), 0)
    const place = node.name === '_[_]' ? this.#elements(operandEstimates[0]!.place) : undefined
    return { cost: cost + worst, size: sizeOfResults(estimates), place }
  }

  #estimatedOf(estimate: CostEstimate, node: Node): Estimated {
    const type = node.type && resolve(node.type)
    const elem = type?.kind === 'list' ? resolve(type.elem).kind : undefined
    const size = sizeOf(estimate, node)
    const constant = node.kind === 'literal' ? node.value : undefined
    if (elem !== 'string' && elem !== 'bytes') return { size, constant }
    const declared = estimate.place && this.#elements(estimate.place).declared
    return { size, constant, textSize: declared === undefined ? unknownSize : { min: 0, max: declared.maxElements } }
  }

  #fold(node: Fold): CostEstimate {
    const range = this.estimate(node.range)
    if (node.macro === 'optMap' || node.macro === 'optFlatMap') return this.#optionalMapping(node, range)
    if (node.macro === 'bind') return this.#binding(node, range)
    const count = sizeOf(range, node.range)
    const body = this.#bodyCost(node, range.place)
    const { begin, each } = foldCosts[node.macro]
    const loop = begin + times(count.max, each + body)
    if (node.macro === 'sortBy') return sorted(node, range.cost + loop, count)
    const isCollection = node.transform !== undefined || node.macro === 'filter'
    const isKnown = !isCollection || this.#version >= macroSizesSince
    return { cost: range.cost + loop, ...(isKnown && { size: isCollection ? count : fixedSize(1) }) }
  }

  /** Returns the cost of a loop body's expressions for one element of the range. */
  #bodyCost(node: Fold, range: Place | undefined): number {
    const isList = resolve(node.range.type!).kind === 'list'
    const element = { place: this.#elements(range) }
    const key = { size: isList ? fixedSize(1) : { min: 0, max: range?.declared?.maxKeyLength ?? 0 } }
    const scopes = this.#scopes.length
    this.#scopes.push({ name: node.variable, known: node.second === undefined && isList ? element : key })
    if (node.second !== undefined) this.#scopes.push({ name: node.second, known: element })
    const parts = [node.predicate, node.transform].filter((part) => part !== undefined)
    const cost = this.#costOf(parts)
    this.#scopes.length = scopes
    return cost
  }

  /**
   * Returns the cost of `optMap` or `optFlatMap`. The optional is evaluated twice: once to test whether it has a value,
   * and once to get the value.
   */
  #optionalMapping(node: Fold, range: CostEstimate): CostEstimate {
    const known = this.#version >= boundVariablesSince ? {} : { place: this.#root }
    this.#scopes.push({ name: node.variable, known })
    const transform = this.estimate(node.transform!)
    this.#scopes.pop()
    const { begin, each } = foldCosts[node.macro]
    return { cost: 2 * range.cost + begin + each + transform.cost }
  }

  /**
   * Returns the cost of `cel.bind`. Within the expression of the macro, the variable has the size of the bound value.
   */
  #binding(node: Fold, { cost, ...known }: CostEstimate): CostEstimate {
    this.#scopes.push({ name: node.variable, known })
    const transform = this.estimate(node.transform!)
    this.#scopes.pop()
    return { cost: cost + foldCosts.bind.begin + transform.cost }
  }
}

/** Returns the cost of sorting a list, excluding the cost of computing the sort keys. */
function sorted({ transform }: Fold, cost: number, count: Size): CostEstimate {
  const kind = transform?.type && resolve(transform.type).kind
  const sort = sortEstimate(count, kind === 'string' || kind === 'bytes' ? 'text' : 'other')
  return { cost: cost + sort.cost, ...(sort.size && { size: sort.size }) }
}

function conditional([condition, then, otherwise]: readonly CostEstimate[], nodes: readonly Node[]): CostEstimate {
  const cost = condition!.cost + Math.max(then!.cost, otherwise!.cost)
  return { cost, size: unionOf(sizeOf(then!, nodes[1]!), sizeOf(otherwise!, nodes[2]!)) }
}

/**
 * Returns the cost of comparing two values of a type with constant-time comparison. Returns undefined for other types.
 */
function opaqueEqualityCost(nodes: readonly Node[]): number | undefined {
  const [a, b] = nodes.map(({ type }) => type && resolve(type).kind)
  return a !== undefined && a === b && Object.hasOwn(opaqueEqualityCosts, a) ? opaqueEqualityCosts[a] : undefined
}

function sizeOf({ size, place }: CostEstimate, { type }: Node): Size {
  if (size !== undefined) return size
  if (place?.declared !== undefined) return { min: 0, max: place.declared.maxElements }
  return isScalar(type) ? fixedSize(1) : unknownSize
}

function sizeOfResults(estimates: readonly CallEstimate[]): Size | undefined {
  const sizes = estimates.flatMap(({ size }) => (size === undefined ? [] : [size]))
  return sizes.length === 0 ? undefined : sizes.reduce(unionOf)
}

function literalSize(value: unknown): Size {
  if (typeof value === 'string') return fixedSize(lengthOf(value))
  return value instanceof Uint8Array ? fixedSize(value.length) : fixedSize(1)
}
