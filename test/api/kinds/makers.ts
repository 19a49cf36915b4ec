/** Generators of values that random objects of many kinds need: names, addresses, labels and choices. */
import type { Json, JsonObject } from '../../../src/api/json/json.ts'
import { freeText, type MakeField, type Making } from './random-object.ts'

export const none: MakeField = () => undefined
export const word: MakeField = ({ pick, count }) => `${pick(['a', 'b-c', '1x', 'main'])}-${count()}`
export const subdomain: MakeField = (making) => `${word(making)}${making.pick(['', '.example.com', '.x-1'])}`
export const qualified: MakeField = (making) =>
  `${making.pick(['', 'example.com/', 'a.b-c/'])}${making.pick(['Name', 'a_b.c', '0'])}${making.count()}`
export const labelValue: MakeField = ({ pick }) => pick(['', 'a', 'A_b.c', '1', 'true'])
export const variable: MakeField = ({ pick, count }) => `${pick(['A', 'my.var', '_X', '-y'])}${count()}`
export const dataKey: MakeField = ({ pick, count }) => `${pick(['key', '.dot', 'a_B-c', '..'.slice(1)])}${count()}`
export const fileName: MakeField = ({ pick, count }) => `${pick(['f', 'dir/sub/f', '.hidden', 'a..b'])}${count()}`
export const port: MakeField = ({ count }) => 1 + (count() % 65535)
export const portName: MakeField = ({ pick, count }) => `${pick(['web', 'a-b', 'x1'])}${count() % 10000}`
export const address: MakeField = ({ pick, below }) =>
  pick([`10.0.${below(256)}.${below(256)}`, `fd00::${below(9999)}`])
export const small: MakeField = ({ below }) => below(256)
export const mode: MakeField = ({ pick }) => pick([0, 0o400, 0o644, 0o777])
export const id: MakeField = ({ pick }) => pick([0, 1, 1000, 2 ** 31 - 1])
export const maybe =
  (make: MakeField, probability = 0.4): MakeField =>
  (making) =>
    making.chance(probability) ? make(making) : undefined
export const some =
  (make: MakeField, most = 2): MakeField =>
  (making) =>
    Array.from({ length: 1 + making.below(most) }, () => make(making) ?? null)
export const table =
  (key: MakeField, value: MakeField): MakeField =>
  (making) =>
    Object.fromEntries(Array.from({ length: 1 + making.below(2) }, () => [key(making), value(making) ?? null]))
export const oneOf =
  (...values: readonly Json[]): MakeField =>
  ({ pick }) =>
    pick(values)

export const labels = maybe(table(qualified, labelValue))
export const annotations = maybe(table(qualified, freeText))
export const modes: MakeField = ({ pick }) =>
  pick([['ReadWriteOnce'], ['ReadOnlyMany', 'ReadWriteMany'], ['ReadWriteOnce', 'ReadWriteOnce']])
export const fullSecret = maybe((making) => ({ name: subdomain(making)!, namespace: word(making)! }))
export const namedSecret = maybe((making) => ({ name: subdomain(making)! }))

/** Keeps one of the named fields, chosen at random, and removes the others. */
export function keepOne(object: JsonObject, names: readonly string[], { pick }: Making): void {
  const there = names.filter((name) => object[name] !== undefined)
  if (there.length < 2) return
  const kept = pick(there)
  for (const name of there) if (name !== kept) delete object[name]
}
