/** Counters that devices share, such as the memory of a partitioned device. */
import { child, type FieldError, type FieldPath, required, tooMany } from '../../../model/field-error.ts'
import { field, s } from '../../../schema/schema.ts'
import { checkName, maxElements } from './lists.ts'

const counter = s.object(
  {
    value: field(1, s.quantity(), { zeroValue: 'write', doc: 'Amount of the counter that is available or consumed.' }),
  },
  { name: 'Counter', doc: 'A quantity that several devices share.' },
)

const counters = field(2, s.map(counter), {
  zeroValue: 'write',
  published: 'required',
  doc: 'Counters, keyed by name. At least one counter is required.',
})

export const counterSet = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the counter set, unique within the pool.' }),
    counters,
  },
  {
    name: 'CounterSet',
    doc: 'A set of counters that devices consume.',
    check: ({ name = '', counters }, path) => [
      ...checkName(name, child(path, 'name')),
      ...checkCounters(counters, path),
    ],
  },
)

export const counterConsumption = s.object(
  {
    counterSet: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the counter set.' }),
    counters,
  },
  {
    name: 'DeviceCounterConsumption',
    doc: 'The amounts that a device consumes from a counter set.',
    check: ({ counterSet = '', counters }, path) => [
      ...(counterSet === '' ? [required(child(path, 'counterSet'))] : checkName(counterSet, child(path, 'counterSet'))),
      ...checkCounters(counters, path),
    ],
  },
)

function checkCounters(all: { readonly [name: string]: unknown } = {}, path: FieldPath): FieldError[] {
  const place = child(path, 'counters')
  const names = Object.keys(all)
  if (names.length === 0) return [required(place)]
  if (names.length > maxElements) return [tooMany(place, names.length, maxElements)]
  return names.flatMap((name) => checkName(name, place))
}
