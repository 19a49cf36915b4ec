/**
 * The operators, by the names used in error messages. `&&`, `||` and `?:` do not evaluate all of their operands, so
 * evaluate.ts implements them.
 */
import { contains, equals, order, sizeOf, smallerSize } from '../compare.ts'
import { type Costs, define, type Estimated, type Functions, type Implementation, type Overload } from '../overload.ts'
import { addSizes, traversal } from '../size.ts'
import { durationOf, timestampOf } from '../time-text.ts'
import {
  ArrayList,
  CelError,
  type CelList,
  type CelMap,
  Double,
  type Duration,
  type Int,
  none,
  Optional,
  type Timestamp,
  toInt,
  Uint,
  type Value,
} from '../values.ts'

const notCalled: Implementation = () => {
  throw new TypeError('this operator is built into the evaluator and cannot be called as a function')
}

/** The cost of comparing two values, which depends on the size of the smaller value. */
const comparing: Costs = {
  actual: (args) => {
    const a = args[0]!
    const b = args[1]!
    return isScalar(a) && isScalar(b) ? 1 : traversal(smallerSize(a, b))
  },
  estimate: ([a, b]) => ({ cost: traversal(Math.min(a!.size.max, b!.size.max)) }),
}

/** Whether a value is a scalar, whose size is always 1. Most comparisons are between scalars. */
function isScalar(value: Value): boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}

const joining: Costs = {
  actual: ([a, b]) => traversal(sizeOf(a!) + sizeOf(b!)),
  estimate: ([a, b]) => {
    const size = addSizes(a!.size, b!.size)
    return { cost: traversal(size.max), size }
  },
}

/** All pairs of different number types. Since Kubernetes 1.28, numbers of different types can be compared. */
const mixedNumbers = ['int', 'uint', 'double'].flatMap((a, _, all) => all.filter((b) => b !== a).map((b) => [a, b]))

const ordered = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration']
const sized = ['string', 'bytes']

function comparison(test: (order: number) => boolean): Overload[] {
  const call: Implementation = (_, args) => test(order(args[0]!, args[1]!))
  return [
    ...ordered.map((type) => define(`(${type}, ${type}) bool`, call, sized.includes(type) ? comparing : {})),
    ...mixedNumbers.map(([a, b]) => ({ ...define(`(${a}, ${b}) bool`, call), since: 28 })),
  ]
}

interface Arithmetic {
  readonly small: (a: number, b: number) => number
  readonly large: (a: bigint, b: bigint) => bigint
  readonly double?: (a: number, b: number) => number
}

function arithmetic({ small, large, double }: Arithmetic): Overload[] {
  const ints: Implementation = (_, args) => {
    const a = args[0]
    const b = args[1]
    if (typeof a === 'number' && typeof b === 'number') {
      const result = small(a, b)
      if (Number.isSafeInteger(result)) return result === 0 ? 0 : result
    }
    return toInt(large(BigInt(a as Int), BigInt(b as Int)))
  }
  const uints: Implementation = (_, [a, b]) => toUint(large((a as Uint).value, (b as Uint).value))
  const doubles =
    double && define('(double, double) double', (_, [a, b]) => new Double(double(doubleIn(a), doubleIn(b))))
  return [define('(int, int) int', ints), define('(uint, uint) uint', uints), ...(doubles ? [doubles] : [])]
}

function doubleIn(value: Value | undefined): number {
  return (value as Double).value
}

export function toUint(value: bigint): Uint {
  if (value < 0n || value >= 2n ** 64n) throw new CelError('unsigned integer overflow')
  return new Uint(value)
}

/** Returns the divisor. Throws an error if the divisor is zero. */
function divisor<T extends number | bigint>(value: T, fault: string): T {
  if (Number(value) === 0) throw new CelError(fault)
  return value
}

const nanosOf = (value: Value | undefined) => (value as Timestamp | Duration).nanos

const add: Overload[] = [
  ...arithmetic({ small: (a, b) => a + b, large: (a, b) => a + b, double: (a, b) => a + b }),
  define(
    '(string, string) string',
    ({ budget }, [a, b]) => {
      budget.allocate((a as string).length + (b as string).length)
      return (a as string) + (b as string)
    },
    joining,
  ),
  define(
    '(bytes, bytes) bytes',
    ({ budget }, [a, b]) => {
      budget.allocate((a as Uint8Array).length + (b as Uint8Array).length)
      return Buffer.concat([a as Uint8Array, b as Uint8Array])
    },
    joining,
  ),
  define(
    '(list(A), list(A)) list(A)',
    ({ budget }, [a, b]) => {
      budget.allocate((a as CelList).size + (b as CelList).size)
      return new ArrayList((a as CelList).toArray().concat((b as CelList).toArray()))
    },
    { estimate: ([a, b]) => ({ cost: 1, size: addSizes(a!.size, b!.size) }) },
  ),
  define('(timestamp, duration) timestamp', (_, [a, b]) => timestampOf(nanosOf(a) + nanosOf(b))),
  define('(duration, timestamp) timestamp', (_, [a, b]) => timestampOf(nanosOf(a) + nanosOf(b))),
  define('(duration, duration) duration', (_, [a, b]) => durationOf(nanosOf(a) + nanosOf(b))),
]

const subtract: Overload[] = [
  ...arithmetic({ small: (a, b) => a - b, large: (a, b) => a - b, double: (a, b) => a - b }),
  define('(timestamp, timestamp) duration', (_, [a, b]) => durationOf(nanosOf(a) - nanosOf(b))),
  define('(timestamp, duration) timestamp', (_, [a, b]) => timestampOf(nanosOf(a) - nanosOf(b))),
  define('(duration, duration) duration', (_, [a, b]) => durationOf(nanosOf(a) - nanosOf(b))),
]

const elementAt: Implementation = (_, [list, i]) => {
  const found = i instanceof Double || i instanceof Uint ? i.value : (i as Int)
  if (!Number.isInteger(Number(found))) throw new CelError(`unsupported index value ${found} in list`)
  if (found < 0 || found >= (list as CelList).size) throw new CelError(`index out of bounds: ${found}`)
  return (list as CelList).get(Number(found))
}

const index: Overload[] = [
  define('(list(A), int) A', elementAt),
  ...['uint', 'double'].map((type) => ({ ...define(`(list(A), ${type}) A`, elementAt), forDynamic: true })),
  define('(map(A, B), A) B', (_, [map, key]) => {
    const entryValue = (map as CelMap).get(key!)
    if (entryValue === undefined) throw new CelError(`no such key: ${showKey(key!)}`)
    return entryValue
  }),
]

function showKey(key: Value): string {
  return key instanceof Uint || key instanceof Double ? String(key.value) : String(key)
}

/** The overloads of `a[?b]`. The result is an optional, which has a value if the index or key is present. */
const optionalIndex: Overload[] = [
  define('(list(A), int) optional(A)', (_, [list, i]) => itemAt(list as CelList, i as Int)),
  define('(map(A, B), A) optional(B)', (_, [map, key]) => new Optional((map as CelMap).get(key!))),
  define('(optional(list(A)), int) optional(A)', (_, [list, i]) => {
    const { value } = list as Optional
    return value === undefined ? none : itemAt(value as CelList, i as Int)
  }),
  define('(optional(map(A, B)), A) optional(B)', (_, [map, key]) => {
    const { value } = map as Optional
    return value === undefined ? none : new Optional((value as CelMap).get(key!))
  }),
].map((overload) => ({ ...overload, since: 28 }))

function itemAt(list: CelList, index: Int): Optional {
  return index < 0 || index >= list.size ? none : new Optional(list.get(Number(index)))
}

const ofSecond = (args: readonly Estimated[]) => ({ cost: args[1]!.size.max })

const membership: Overload[] = [
  define('(A, list(A)) bool', (run, [item, list]) => contains(run, list as CelList, item!), {
    actual: ([, list]) => (list as CelList).size,
    estimate: ofSecond,
  }),
  define('(A, map(A, B)) bool', (_, [key, map]) => (map as CelMap).get(key!) !== undefined),
]

const size = ['string', 'bytes', 'list(A)', 'map(A, B)'].flatMap((type) => {
  const count: Implementation = ({ budget }, [value]) => {
    if (typeof value === 'string') budget.work(value.length)
    return sizeOf(value!)
  }
  return [define(`(${type}) int`, count), define(`${type}.() int`, count)]
})

export const operators: Functions = new Map([
  ['_&&_', [define('(bool, bool) bool', notCalled)]],
  ['_||_', [define('(bool, bool) bool', notCalled)]],
  ['_?_:_', [define('(bool, A, A) A', notCalled)]],
  ['!_', [define('(bool) bool', (_, [a]) => !a)]],
  ['_==_', [define('(A, A) bool', (run, args) => equals(run, args[0]!, args[1]!), comparing)]],
  ['_!=_', [define('(A, A) bool', (run, args) => !equals(run, args[0]!, args[1]!), comparing)]],
  ['_<_', comparison((found) => found < 0)],
  ['_<=_', comparison((found) => found <= 0)],
  ['_>_', comparison((found) => found > 0)],
  ['_>=_', comparison((found) => found >= 0)],
  ['_+_', add],
  ['_-_', subtract],
  ['_*_', arithmetic({ small: (a, b) => a * b, large: (a, b) => a * b, double: (a, b) => a * b })],
  [
    '_/_',
    arithmetic({
      small: (a, b) => Math.trunc(a / divisor(b, 'division by zero')),
      large: (a, b) => a / divisor(b, 'division by zero'),
      double: (a, b) => a / b,
    }),
  ],
  [
    '_%_',
    arithmetic({
      small: (a, b) => a % divisor(b, 'modulus by zero'),
      large: (a, b) => a % divisor(b, 'modulus by zero'),
    }),
  ],
  [
    '-_',
    [
      define('(int) int', (_, [a]) => toInt(-BigInt(a as Int))),
      define('(double) double', (_, [a]) => new Double(-doubleIn(a))),
    ],
  ],
  ['_[_]', [...index, ...optionalIndex.slice(2)]],
  ['_[?_]', optionalIndex],
  ['_?._', [define('(dyn, string) optional(dyn)', notCalled)]],
  ['@in', membership],
  ['size', size],
])
