/** Functions on sets (available since Kubernetes 1.29), additional list functions (1.34) and optional values (1.28). */
import { order } from '../compare.ts'
import {
  type CallEstimate,
  type Costs,
  define,
  type Estimated,
  type Functions,
  type Implementation,
  introducedIn,
  joinTables,
  type Run,
} from '../overload.ts'
import { comparisonFactors, fixedSize, listCallCost, type Size, sortEstimate, times, traversal } from '../size.ts'
import { ValueSet } from '../value-set.ts'
import {
  ArrayList,
  CelError,
  CelList,
  CelMap,
  Double,
  type Int,
  kindOf,
  none,
  Optional,
  Uint,
  type Value,
} from '../values.ts'

const sizeOfList = (value: Value | undefined) => (value as CelList).size

/** Returns the cost of comparing all element pairs of two lists. */
function pairs(factor: number): Costs {
  return {
    actual: ([a, b]) => 1 + factor * sizeOfList(a) * sizeOfList(b),
    estimate: ([a, b]) => ({ cost: 1 + factor * times(a!.size.max, b!.size.max) }),
  }
}

function isSubset(run: Run, outer: CelList, inner: CelList): boolean {
  const elements = new ValueSet(run, outer)
  for (const item of inner) if (!elements.has(item)) return false
  return true
}

function intersects(run: Run, a: CelList, b: CelList): boolean {
  const elements = new ValueSet(run, b)
  for (const item of a) if (elements.has(item)) return true
  return false
}

const sets: Functions = new Map([
  [
    'sets.contains',
    [define('(list(A), list(A)) bool', (run, [a, b]) => isSubset(run, a as CelList, b as CelList), pairs(1))],
  ],
  [
    'sets.equivalent',
    [
      define(
        '(list(A), list(A)) bool',
        (run, [a, b]) => isSubset(run, a as CelList, b as CelList) && isSubset(run, b as CelList, a as CelList),
        pairs(2),
      ),
    ],
  ],
  [
    'sets.intersects',
    [define('(list(A), list(A)) bool', (run, [a, b]) => intersects(run, a as CelList, b as CelList), pairs(1))],
  ],
])

/** Returns the cost of creating a list of the given size. */
function newList(size: Size, factor = 1): CallEstimate {
  return { cost: traversal(size.max, factor) + listCallCost, size }
}

/** Returns the cost functions for a function that creates a list. `resultSize` estimates the length of the list. */
function creating(resultSize: (args: readonly Estimated[]) => Size): Costs {
  return {
    actual: () => listCallCost,
    ofResult: sizeOfList,
    estimate: (args) => newList(resultSize(args)),
  }
}

/** The cost of comparing every pair of elements, as charged by Kubernetes. The implementation compares fewer pairs. */
const comparingAll: Costs = {
  actual: ([list]) => selfComparison(list as CelList),
  estimate: ([list]) => sortEstimate(list!.size, 'other'),
}
const comparingTexts: Costs = { ...comparingAll, estimate: ([list]) => sortEstimate(list!.size, 'text') }

export function selfComparison(list: CelList): number {
  const first = list.size === 0 ? undefined : list.get(0)
  const isText = typeof first === 'string' || first instanceof Uint8Array
  return Math.floor(list.size * list.size * comparisonFactors[isText ? 'text' : 'other']) + listCallCost
}

/** Estimates the cost of `flatten`. If the depth is not a constant, the estimate assumes an unlimited depth. */
function flattening([list, depth]: readonly Estimated[]): CallEstimate {
  const levels = depth === undefined ? 1 : intOr(depth, Number.POSITIVE_INFINITY)
  return newList(list!.size, levels)
}

/**
 * Returns the value of a constant integer argument, or `otherwise` if the argument is not a constant. Negative numbers
 * count as 0.
 */
function intOr({ constant }: Estimated, otherwise: number): number {
  return typeof constant === 'number' ? Math.max(constant, 0) : otherwise
}

function distinct(run: Run, list: CelList): ArrayList {
  const distinctValues = new ValueSet(run, new ArrayList([]))
  return new ArrayList(list.toArray().filter((item) => distinctValues.add(item)))
}

function slice(list: CelList, from: Int, to: Int): ArrayList {
  if (from < 0 || to < 0) throw new CelError(`cannot slice(${from}, ${to}), negative indexes not supported`)
  if (from > to) throw new CelError(`cannot slice(${from}, ${to}), start index must be less than or equal to end index`)
  if (to > list.size) throw new CelError(`cannot slice(${from}, ${to}), list is length ${list.size}`)
  return new ArrayList(list.toArray().slice(Number(from), Number(to)))
}

const maxDepth = 250

function flatten(run: Run, list: CelList, depth: Int): ArrayList {
  if (depth < 0) throw new CelError('level must be non-negative')
  const flat: Value[] = []
  const add = (items: CelList, remainingDepth: number): void => {
    for (const item of items) {
      run.budget.allocate(1)
      if (item instanceof CelList && remainingDepth > 0) add(item, remainingDepth - 1)
      else flat.push(item)
    }
  }
  add(list, Math.min(Number(depth), maxDepth))
  return new ArrayList(flat)
}

const flatCosts: Costs = {
  actual: ([list, depth]) => Math.floor(times(sizeOfList(list), Math.max(Number(depth ?? 1), 0))) + listCallCost,
  estimate: flattening,
}

const sortCosts = (type: string) => (type === 'string' || type === 'bytes' ? comparingTexts : comparingAll)

const sortable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']

export function sorted(run: Run, items: readonly Value[], keys: readonly Value[]): ArrayList {
  const kinds = new Set(keys.map(kindOf))
  if (kinds.size > 1) throw new CelError('list elements must have the same type')
  run.budget.allocate(items.length)
  run.budget.work(items.length * Math.ceil(Math.log2(items.length + 2)))
  const indexes = items.map((_, i) => i).sort((a, b) => order(keys[a]!, keys[b]!))
  return new ArrayList(indexes.map((i) => items[i]!))
}

const sort: Implementation = (run, [list]) => {
  const items = (list as CelList).toArray()
  return sorted(run, items, items)
}

const copied =
  (make: (items: Value[]) => readonly Value[]): Implementation =>
  ({ budget }, [list]) => {
    budget.allocate(sizeOfList(list))
    return new ArrayList(make((list as CelList).toArray()))
  }

const range: Implementation = ({ budget }, [count]) => {
  const size = Math.max(Number(count), 0)
  budget.allocate(size)
  return new ArrayList(Array.from({ length: size }, (_, i) => i))
}

const lists: Functions = new Map([
  ['distinct', [define('list(A).() list(A)', (run, [list]) => distinct(run, list as CelList), comparingAll)]],
  [
    'flatten',
    [
      define('list(list(A)).() list(A)', (run, [list]) => flatten(run, list as CelList, 1), flatCosts),
      define('list(dyn).() list(dyn)', (run, [list]) => flatten(run, list as CelList, 1), flatCosts),
      define(
        'list(dyn).(int) list(dyn)',
        (run, [list, depth]) => flatten(run, list as CelList, depth as Int),
        flatCosts,
      ),
    ],
  ],
  [
    'slice',
    [
      define(
        'list(A).(int, int) list(A)',
        (_, [list, from, to]) => slice(list as CelList, from as Int, to as Int),
        creating(([list, from, to]) => fixedSize(Math.max(intOr(to!, list!.size.max) - intOr(from!, 0), 0))),
      ),
    ],
  ],
  ['sort', sortable.map((type) => define(`list(${type}).() list(${type})`, sort, sortCosts(type)))],
  [
    'reverse',
    [
      define(
        'list(A).() list(A)',
        copied((items) => items.reverse()),
        creating(([list]) => list!.size),
      ),
    ],
  ],
  [
    'lists.range',
    [
      define(
        '(int) list(int)',
        range,
        creating(([count]) => fixedSize(intOr(count!, Number.POSITIVE_INFINITY))),
      ),
    ],
  ],
])

const optional = (value: Value | undefined) => value as Optional

function valueIn(value: Value | undefined): Value {
  const optionalContent = optional(value).value
  if (optionalContent === undefined) throw new CelError('optional.none() dereference')
  return optionalContent
}

/** Whether a value is zero or empty, such as 0, false or ''. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0) return true
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  return (value instanceof CelList || value instanceof CelMap) && value.size === 0
}

const optionals: Functions = new Map([
  ['optional.of', [define('(A) optional(A)', (_, [value]) => new Optional(value))]],
  [
    'optional.ofNonZeroValue',
    [define('(A) optional(A)', (_, [value]) => (isZero(value!) ? none : new Optional(value)))],
  ],
  ['optional.none', [define('() optional(A)', () => none)]],
  ['hasValue', [define('optional(A).() bool', (_, [value]) => optional(value).value !== undefined)]],
  ['value', [define('optional(A).() A', (_, [value]) => valueIn(value))]],
  ['orValue', [define('optional(A).(A) A', (_, [value, other]) => optional(value).value ?? other!)]],
  [
    'or',
    [
      define('optional(A).(optional(A)) optional(A)', (_, [value, other]) =>
        optional(value).value === undefined ? other! : value!,
      ),
    ],
  ],
])

const unwrap: Implementation = ({ budget }, [list]) => {
  budget.allocate(sizeOfList(list))
  const values = (list as CelList).toArray().map((item) => optional(item).value)
  return new ArrayList(values.filter((item) => item !== undefined))
}

const moreOptionals: Functions = new Map([
  [
    'first',
    [
      define(
        'list(A).() optional(A)',
        (_, [list]) => new Optional(sizeOfList(list) === 0 ? undefined : (list as CelList).get(0)),
      ),
    ],
  ],
  [
    'last',
    [
      define('list(A).() optional(A)', (_, [list]) => {
        const size = sizeOfList(list)
        return new Optional(size === 0 ? undefined : (list as CelList).get(size - 1))
      }),
    ],
  ],
  ['unwrapOpt', [define('list(optional(A)).() list(A)', unwrap)]],
  ['optional.unwrap', [define('(list(optional(A))) list(A)', unwrap)]],
])

export const collections: Functions = joinTables([
  introducedIn(29, sets),
  introducedIn(34, lists),
  introducedIn(28, optionals),
  introducedIn(33, moreOptionals),
])
