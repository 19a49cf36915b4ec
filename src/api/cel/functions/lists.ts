/** The list functions that Kubernetes adds to the standard functions of CEL. */
import { equals, order } from '../compare.ts'
import { type Costs, define, type Functions, type Implementation, type Overload } from '../overload.ts'
import { times, traversal } from '../size.ts'
import { CelError, CelList, CelMap, Double, Duration, kindOf, Uint, type Value } from '../values.ts'
import { operators } from './operators.ts'
import { textPositions } from './strings.ts'

const comparable = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']

/** The cost of traversing a list and all its content. The estimate adds one unit per element. */
const eachElement: Costs = {
  actual: ([list]) => contentCost(list!),
  estimate: ([list]) => ({ cost: times(list!.size.max, 1 + traversal(list!.textSize?.max ?? 0)) }),
}

/** Returns the cost of traversing a value: a tenth of a unit per byte of text, and one unit for any other scalar. */
function contentCost(value: Value): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) / 10)
  if (value instanceof Uint8Array) return Math.floor(value.length / 10)
  let cost = 0
  if (value instanceof CelList) for (const item of value) cost += contentCost(item)
  else if (value instanceof CelMap)
    for (const key of value.keys()) cost += contentCost(key) + contentCost(value.get(key)!)
  else cost = 1
  return cost
}

const isSorted: Implementation = ({ budget }, [list]) => {
  const items = list as CelList
  budget.work(items.size)
  for (let i = 1; i < items.size; i++) if (order(items.get(i - 1), items.get(i)) > 0) return false
  return true
}

/** Returns a function that finds the smallest or the largest element of a list. */
function extreme(name: string, direction: 1 | -1): Implementation {
  return ({ budget }, [list]) => {
    budget.work((list as CelList).size)
    let best: Value | undefined
    for (const item of list as CelList) if (best === undefined || order(item, best) * direction > 0) best = item
    if (best === undefined) throw new CelError(`${name} called on empty list`)
    return best
  }
}

const zeros: { readonly [type: string]: Value } = {
  int: 0,
  uint: new Uint(0n),
  double: new Double(0),
  duration: new Duration(0n),
}

/** Returns a function that adds the elements of a list with the `+` operator of their type. */
function sum(type: string): Implementation {
  const isOfType = ({ kinds }: Overload) => kinds().every((kind) => kind === type)
  return (run, [list]) => {
    const add = operators.get('_+_')!.find(isOfType)!
    let total: Value = zeros[type]!
    for (const item of list as CelList) {
      run.budget.work(1)
      if (kindOf(item) !== type) throw new CelError('no such overload')
      total = add.call(run, [total, item])
    }
    return total
  }
}

const first: Implementation = (run, [list, item]) => {
  const items = list as CelList
  run.budget.work(items.size)
  for (let i = 0; i < items.size; i++) if (equals(run, items.get(i), item!)) return i
  return -1
}

const last: Implementation = (run, [list, item]) => {
  const items = list as CelList
  run.budget.work(items.size)
  for (let i = items.size - 1; i >= 0; i--) if (equals(run, items.get(i), item!)) return i
  return -1
}

const ofEach = (types: readonly string[], result: (type: string) => string, call: (type: string) => Implementation) =>
  types.map((type) => define(`list(${type}).() ${result(type)}`, call(type), eachElement))

export const lists: Functions = new Map([
  [
    'isSorted',
    ofEach(
      comparable,
      () => 'bool',
      () => isSorted,
    ),
  ],
  ['sum', ofEach(Object.keys(zeros), (type) => type, sum)],
  [
    'min',
    ofEach(
      comparable,
      (type) => type,
      () => extreme('min', -1),
    ),
  ],
  [
    'max',
    ofEach(
      comparable,
      (type) => type,
      () => extreme('max', 1),
    ),
  ],
  ['indexOf', [...textPositions[0][1], define('list(A).(A) int', first, eachElement)]],
  ['lastIndexOf', [...textPositions[1][1], define('list(A).(A) int', last, eachElement)]],
])
