/**
 * Estimates the maximum cost of an expression from the maximum sizes of the declared types. Kubernetes rejects rules by
 * this estimate, so it counts like cel-go and does not reflect actual costs here. Macros count as the loops that they
 * represent.
 */
import { type Call, type Fold, type Node, operands } from './ast.ts'
import { lengthOf } from './compare.ts'
import type { DeclaredType } from './declared-type.ts'
import type { CallEstimate, Estimated } from './overload.ts'
import { fixedSize, type Size, times, unionOf, unknownSize } from './size.ts'
import { type CelType, resolve } from './types.ts'

/** The costs of the parts of a loop, without the expressions of the rule. */
export const listCost = 10
export const mapCost = 30
export const structCost = 40
export const foldCosts = {
  all: { begin: 1, each: 3 },
  exists: { begin: 1, each: 4 },
  exists_one: { begin: 2, each: 2 },
  filter: { begin: listCost + 1, each: 13 },
  map: { begin: listCost + 1, each: 12 },
  existsOne: { begin: 2, each: 2 },
  transformList: { begin: listCost + 1, each: 12 },
  transformMap: { begin: mapCost + 1, each: 4 },
  transformMapEntry: { begin: mapCost + 1, each: 4 },
  optMap: { begin: 1, each: 1 },
  optFlatMap: { begin: 1, each: 1 },
} as const

/** The cost of a node, its size if known, and its declared type. */
interface CostEstimate {
  readonly cost: number
  readonly size?: Size | undefined
  readonly declared?: DeclaredType | undefined
}

/** `variables` are the declared types of `self` and `oldSelf`. */
export function estimateCost(root: Node, variables: ReadonlyMap<string, DeclaredType>): number {
  return new Estimator(variables).estimate(root).cost
}

const scalars: ReadonlySet<CelType['kind']> = new Set([
  'bool',
  'int',
  'uint',
  'double',
  'timestamp',
  'duration',
  'type',
  'ip',
  'cidr',
  'quantity',
  'semver',
])

const keepsDeclared = new Set(['value', 'orValue', 'or', 'optional.of', 'optional.ofNonZeroValue'])

class Estimator {
  readonly #variables: ReadonlyMap<string, DeclaredType>
  readonly #scopes: { readonly name: string; readonly known: CostEstimate }[] = []

  constructor(variables: ReadonlyMap<string, DeclaredType>) {
    this.#variables = variables
  }

  estimate(node: Node): CostEstimate {
    switch (node.kind) {
      case 'literal':
        return { cost: 0, size: literalSize(node.value) }
      case 'identifier':
        return { ...this.#estimateOfName(node.name), cost: 1 }
      case 'select': {
        const operand = this.estimate(node.operand)
        if (node.isTest) return { cost: operand.cost, size: fixedSize(1) }
        const declared = operand.declared?.fields?.get(node.field) ?? elementOf(operand)
        return { cost: operand.cost + 1, declared }
      }
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
    return local?.known ?? { declared: this.#variables.get(name) }
  }

  #costOf(nodes: readonly Node[]): number {
    return nodes.reduce((sum, node) => sum + this.estimate(node).cost, 0)
  }

  #call(node: Call): CostEstimate {
    const nodes = operands(node)
    const known = nodes.map((operand) => this.estimate(operand))
    const cost = known.reduce((sum, operand) => sum + operand.cost, 0)
    if (node.name === '_&&_' || node.name === '_||_') return { cost, size: fixedSize(1) }
    if (node.name === '_?_:_') return conditional(known)
    if (node.name === 'dyn') return { ...known[0]!, cost: cost + 1 }
    const args = known.map((operand, i) => estimatedOf(operand, nodes[i]!))
    const estimates = (node.overloads ?? []).map(({ estimate }) => estimate?.(args) ?? { cost: 1 })
    const worst = estimates.reduce((most, { cost: each }) => Math.max(most, each), 0)
    const declared = this.#declaredResult(node, known[0])
    return { cost: cost + worst, size: sizeOfResults(estimates), declared }
  }

  /** Returns the declared type of the result, for functions that return a part of their first argument. */
  #declaredResult(node: Call, first: CostEstimate | undefined): DeclaredType | undefined {
    if (first === undefined) return undefined
    const [, field] = node.args
    if (node.name === '_?._')
      return first.declared?.fields?.get(field?.kind === 'literal' ? String(field.value) : '') ?? elementOf(first)
    if (['_[_]', '_[?_]', 'first', 'last'].includes(node.name)) return elementOf(first)
    return keepsDeclared.has(node.name) ? first.declared : undefined
  }

  #fold(node: Fold): CostEstimate {
    const range = this.estimate(node.range)
    if (node.macro === 'optMap' || node.macro === 'optFlatMap') return this.#optionalMapping(node, range)
    const isList = resolve(node.range.type!).kind === 'list'
    const index: CostEstimate = { cost: 0, size: fixedSize(isList ? 1 : 0) }
    // Keys of maps are strings of unknown size and count as empty.
    const element: CostEstimate = isList ? { cost: 0, declared: elementOf(range) } : { cost: 0, size: fixedSize(0) }
    const scopes = this.#scopes.length
    this.#scopes.push({ name: node.variable, known: node.second === undefined ? element : index })
    if (node.second !== undefined)
      this.#scopes.push({ name: node.second, known: { cost: 0, declared: elementOf(range) } })
    const predicate = node.predicate === undefined ? 0 : this.estimate(node.predicate).cost
    const transform = node.transform === undefined ? 0 : this.estimate(node.transform).cost
    this.#scopes.length = scopes
    const { begin, each } = foldCosts[node.macro]
    const count = sizeOf(range, node.range)
    const cost = range.cost + begin + times(count.max, each + predicate + transform)
    const isCollection = node.transform !== undefined || node.macro === 'filter'
    return {
      cost,
      size: isCollection ? { min: 0, max: count.max } : fixedSize(1),
      ...(node.macro === 'filter' && range.declared && { declared: range.declared }),
    }
  }

  #optionalMapping(node: Fold, range: CostEstimate): CostEstimate {
    this.#scopes.push({ name: node.variable, known: { ...range, cost: 0 } })
    const transform = this.estimate(node.transform!)
    this.#scopes.pop()
    const { begin, each } = foldCosts.optMap
    return { ...transform, cost: range.cost + begin + each + transform.cost }
  }
}

/** Returns the declared type of a list's elements or a map's values. */
function elementOf({ declared }: CostEstimate): DeclaredType | undefined {
  return declared?.form === 'list' || declared?.form === 'map' ? declared.elem : undefined
}

function conditional([condition, then, otherwise]: readonly CostEstimate[]): CostEstimate {
  const cost = condition!.cost + Math.max(then!.cost, otherwise!.cost)
  if (then!.size === undefined || otherwise!.size === undefined)
    return { cost, declared: then!.declared === otherwise!.declared ? then!.declared : undefined }
  return { cost, size: unionOf(then!.size, otherwise!.size) }
}

function sizeOf({ size, declared }: CostEstimate, { type }: Node): Size {
  if (size !== undefined) return size
  if (declared !== undefined) return { min: 0, max: declared.maxElements }
  return type !== undefined && scalars.has(resolve(type).kind) ? fixedSize(1) : unknownSize
}

function estimatedOf(known: CostEstimate, node: Node): Estimated {
  const type = node.type && resolve(node.type)
  const elem = type?.kind === 'list' ? resolve(type.elem).kind : undefined
  const isTexts = elem === 'string' || elem === 'bytes'
  const element = elementOf(known)
  const textSize = element === undefined ? unknownSize : { min: 0, max: element.maxElements }
  return { size: sizeOf(known, node), ...(isTexts && { textSize }) }
}

function sizeOfResults(estimates: readonly CallEstimate[]): Size | undefined {
  const sizes = estimates.flatMap(({ size }) => (size === undefined ? [] : [size]))
  return sizes.length === 0 ? undefined : sizes.reduce(unionOf)
}

function literalSize(value: unknown): Size {
  if (typeof value === 'string') return fixedSize(lengthOf(value))
  return value instanceof Uint8Array ? fixedSize(value.length) : fixedSize(1)
}
