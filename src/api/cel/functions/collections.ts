/** Sets (Kubernetes 1.29), further list functions (1.34) and optional values (1.28). */
import { contains, equals, order } from '../compare.ts'
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
import { times } from '../size.ts'
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

/** The cost of comparing each element of one list with each of the other. */
function pairs(factor: number): Costs {
  return {
    actual: ([a, b]) => 1 + factor * sizeOfList(a) * sizeOfList(b),
    estimate: ([a, b]) => ({ cost: 1 + factor * times(a!.size.max, b!.size.max) }),
  }
}

function isSubset(run: Run, outer: CelList, inner: CelList): boolean {
  for (const item of inner) if (!contains(run, outer, item)) return false
  return true
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
    [
      define(
        '(list(A), list(A)) bool',
        (run, [a, b]) => (a as CelList).toArray().some((item) => contains(run, b as CelList, item)),
        pairs(1),
      ),
    ],
  ],
])

/** Costs one unit per element, and produces a result of at most the same size. */
const eachElement: Costs = {
  actual: ([list]) => 1 + sizeOfList(list),
  estimate: ([list]) => ({ cost: 1 + list!.size.max, size: { min: 0, max: list!.size.max } }),
}

function distinct(run: Run, list: CelList): ArrayList {
  const found: Value[] = []
  const scalars = new Set<string>()
  for (const item of list) {
    if (typeof item === 'string') {
      if (scalars.has(item)) continue
      scalars.add(item)
    } else {
      run.budget.charge(found.length)
      if (found.some((each) => equals(run, each, item))) continue
    }
    found.push(item)
  }
  return new ArrayList(found)
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
  const add = (items: CelList, left: number): void => {
    for (const item of items) {
      run.budget.allocate(1)
      if (item instanceof CelList && left > 0) add(item, left - 1)
      else flat.push(item)
    }
  }
  add(list, Math.min(Number(depth), maxDepth))
  return new ArrayList(flat)
}

const sortable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']

function sorted(run: Run, items: readonly Value[], keys: readonly Value[]): ArrayList {
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
  ['distinct', [define('list(A).() list(A)', (run, [list]) => distinct(run, list as CelList), eachElement)]],
  [
    'flatten',
    [
      define('list(list(A)).() list(A)', (run, [list]) => flatten(run, list as CelList, 1), eachElement),
      define('list(dyn).() list(dyn)', (run, [list]) => flatten(run, list as CelList, 1), eachElement),
      define(
        'list(dyn).(int) list(dyn)',
        (run, [list, depth]) => flatten(run, list as CelList, depth as Int),
        eachElement,
      ),
    ],
  ],
  [
    'slice',
    [
      define(
        'list(A).(int, int) list(A)',
        (_, [list, from, to]) => slice(list as CelList, from as Int, to as Int),
        eachElement,
      ),
    ],
  ],
  ['sort', sortable.map((type) => define(`list(${type}).() list(${type})`, sort, eachElement))],
  [
    'reverse',
    [
      define(
        'list(A).() list(A)',
        copied((items) => items.reverse()),
        eachElement,
      ),
    ],
  ],
  [
    'lists.range',
    [
      define('(int) list(int)', range, {
        actual: ([count]) => 1 + Math.max(Number(count), 0),
        estimate: (): CallEstimate => ({ cost: 1, size: { min: 0, max: Number.POSITIVE_INFINITY } }),
      }),
    ],
  ],
])

const optional = (value: Value | undefined) => value as Optional

function valueIn(value: Value | undefined): Value {
  const found = optional(value).value
  if (found === undefined) throw new CelError('optional.none() dereference')
  return found
}

/** Whether a value is the default of its type. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === '' || value === 0) return true
  if (value instanceof Double) return value.value === 0
  if (value instanceof Uint) return value.value === 0n
  return (value instanceof CelList || value instanceof CelMap) && value.size === 0
}

const sizeOfFirst = ([value]: readonly Estimated[]): CallEstimate => ({ cost: 1, size: value!.size })

const optionals: Functions = new Map([
  ['optional.of', [define('(A) optional(A)', (_, [value]) => new Optional(value), { estimate: sizeOfFirst })]],
  [
    'optional.ofNonZeroValue',
    [
      define('(A) optional(A)', (_, [value]) => (isZero(value!) ? none : new Optional(value)), {
        estimate: sizeOfFirst,
      }),
    ],
  ],
  ['optional.none', [define('() optional(A)', () => none)]],
  ['hasValue', [define('optional(A).() bool', (_, [value]) => optional(value).value !== undefined)]],
  ['value', [define('optional(A).() A', (_, [value]) => valueIn(value), { estimate: sizeOfFirst })]],
  [
    'orValue',
    [define('optional(A).(A) A', (_, [value, other]) => optional(value).value ?? other!, { estimate: sizeOfFirst })],
  ],
  [
    'or',
    [
      define('optional(A).(optional(A)) optional(A)', (_, [value, other]) =>
        optional(value).value === undefined ? other! : value!,
      ),
    ],
  ],
])

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
  [
    'unwrapOpt',
    [
      define(
        'list(optional(A)).() list(A)',
        (_, [list]) => {
          const found = (list as CelList).toArray().map((item) => optional(item).value)
          return new ArrayList(found.filter((item) => item !== undefined))
        },
        eachElement,
      ),
    ],
  ],
])

export const collections: Functions = joinTables([
  introducedIn(29, sets),
  introducedIn(34, lists),
  introducedIn(28, optionals),
  introducedIn(33, moreOptionals),
])
