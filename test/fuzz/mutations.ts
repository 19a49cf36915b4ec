/** Small random mutations of JSON values: a member is removed, duplicated, renamed or replaced. */
import { canonical, type Value } from '../api/merge/models.ts'
import type { RandomSource } from '../storage/store/random-source.ts'

const deep = (levels: number): Value => (levels === 0 ? 1 : { a: deep(levels - 1) })

const odd: readonly Value[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e3,
  2 ** 31,
  2 ** 53,
  '',
  'x',
  '1',
  '100m',
  'é',
  'a b',
  '\u0000',
  'A\n',
  '__proto__',
  '😀',
  '2026-01-01T00:00:00Z',
  'x'.repeat(300),
  [],
  {},
  [null],
  [[]],
  { a: {} },
  { $patch: 'delete' },
  [{ $patch: 'replace' }],
  deep(40),
  deep(600),
]
const oddNames = ['', '__proto__', 'constructor', 'a', 'Data', 'a/b', '$patch', '$retainKeys', 'é', 'k'.repeat(260)]

const strange = (random: RandomSource) => structuredClone(random.pick(odd))

type Holder = Value[] | { [name: string]: Value }

export function mutated(random: RandomSource, value: Value): Value {
  const holder: Value[] = [structuredClone(value)]
  for (let i = 1 + random.below(2); i > 0; i--) mutateOnce(random, random.pick(holdersIn(holder)))
  return holder[0]!
}

/** Returns all lists and objects in the value, including the value itself. */
function holdersIn(holder: Holder): Holder[] {
  const inner = Object.values(holder).filter((one): one is Holder => typeof one === 'object' && one !== null)
  return [holder, ...inner.flatMap(holdersIn)]
}

function mutateOnce(random: RandomSource, holder: Holder): void {
  if (Array.isArray(holder)) {
    const at = random.below(holder.length)
    // The list that contains the document must keep its single element.
    if (holder.length > 0 && random.chance(0.5)) holder[at] = strange(random)
    else holder.splice(at, 0, holder.length > 0 ? structuredClone(holder[at]!) : strange(random))
    return
  }
  const names = Object.keys(holder)
  const name = names.length > 0 && random.chance(0.8) ? random.pick(names) : random.pick(oddNames)
  if (random.chance(0.3)) delete holder[name]
  else if (random.chance(0.2) && names.includes(name))
    put(holder, random.pick(oddNames), structuredClone(holder[name]!))
  else put(holder, name, strange(random))
}

function put(object: { [name: string]: Value }, name: string, value: Value): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

export function isSame(a: Value, b: Value): boolean {
  return canonical(a) === canonical(b)
}
