/**
 * A DeviceCapacity is an amount of a resource that a device has. It also specifies how much of this amount a single
 * request may consume.
 */
import { at, child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
import { compareQuantities, parseQuantity } from '../../../model/quantity.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkList } from './lists.ts'

const rangeFields = {
  min: field(1, s.quantity(), {
    zeroValue: 'keep',
    published: 'required',
    doc: 'Minimum amount that a request can consume.',
  }),
  max: field(2, s.quantity(), {
    zeroValue: 'keep',
    doc: "Maximum amount that a request can consume. Defaults to the device's capacity.",
  }),
  step: field(3, s.quantity(), {
    zeroValue: 'keep',
    doc: 'Step size: a valid amount is the minimum plus a multiple of this value.',
  }),
}

const validRange = s.object(rangeFields, {
  name: 'CapacityRequestPolicyRange',
  doc: 'Range of amounts that a request can consume.',
})

const policyFields = {
  default: field(1, s.quantity(), {
    zeroValue: 'keep',
    doc: 'Amount that a request consumes if it does not specify one.',
  }),
  validValues: field(3, s.list(s.quantity()), { doc: 'Amounts that a request can consume, in ascending order.' }),
  validRange: field(4, validRange, { doc: 'Range of amounts that a request can consume.' }),
}

const requestPolicy = s.object(policyFields, {
  name: 'CapacityRequestPolicy',
  doc: 'Specifies which amounts of a capacity a request can consume.',
})

const capacityFields = {
  value: field(1, s.quantity(), { zeroValue: 'write', doc: 'Total amount that the device provides.' }),
  requestPolicy: field(2, requestPolicy, {
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'Amounts of the capacity that a request can consume. Requires a device that allows multiple allocations.',
  }),
}

export const deviceCapacity = s.object(capacityFields, { name: 'DeviceCapacity', doc: 'A capacity of a device.' })

const maxValues = 10

/** Validates a capacity of a device. Only shared devices have a policy. */
export function checkCapacity(
  { value = '0', requestPolicy: policy }: InferFields<typeof capacityFields>,
  { isShared, path }: { readonly isShared: boolean; readonly path: FieldPath },
): FieldError[] {
  if (policy === undefined) return []
  const place = child(path, 'requestPolicy')
  if (!isShared) return [forbidden(place, 'allowMultipleAllocations must be true')]
  if (policy.validValues?.length && policy.validRange)
    return [forbidden(place, '`validValues` and `validRange` are mutually exclusive')]
  const { default: own, validValues: values = [], validRange: range } = policy
  const isLimited = values.length > 0 || range !== undefined
  if (own === undefined) return isLimited ? [required(child(place, 'default'), 'is required with valid amounts')] : []
  if (range !== undefined) return checkRange(range, { own, value, path: child(place, 'validRange') })
  return values.length > 0 ? checkValues(values, { own, value, path: child(place, 'validValues') }) : []
}

/** Values for validating a request policy: its own default, the capacity of the device, and the path for errors. */
interface PolicyContext {
  readonly own: string
  readonly value: string
  readonly path: FieldPath
}

const compare = (a: string, b: string) => compareQuantities(parseQuantity(a)!, parseQuantity(b)!)

function checkValues(values: readonly string[], { own, value, path }: PolicyContext): FieldError[] {
  return [
    ...values.flatMap((each, i) =>
      i > 0 && compare(values[i - 1]!, each) > 0 ? [invalid(at(path, i), each, 'must be in ascending order')] : [],
    ),
    ...checkList(values, path, {
      max: maxValues,
      key: (each) => String(parseQuantity(each)!.nanos),
      check: (each, place) => (compare(each, value) > 0 ? [invalid(place, each, 'must not exceed the capacity')] : []),
    }),
    ...(values.some((each) => compare(each, own) === 0)
      ? []
      : [invalid(path, own, 'the default is not one of the valid values')]),
  ]
}

function checkRange(
  { min, max, step }: InferFields<typeof rangeFields>,
  { own, value, path }: PolicyContext,
): FieldError[] {
  const places = { min: child(path, 'min'), max: child(path, 'max'), step: child(path, 'step') }
  if (min === undefined) return [required(places.min)]
  return [
    ...(compare(min, value) > 0 ? [invalid(places.min, min, 'must not exceed the capacity')] : []),
    ...(compare(own, min) < 0 ? [invalid(places.min, own, 'the default is less than the minimum')] : []),
    ...(max !== undefined && compare(min, max) > 0
      ? [invalid(places.max, max, 'must not be less than the minimum')]
      : []),
    ...(max !== undefined && compare(max, value) > 0 ? [invalid(places.max, max, 'must not exceed the capacity')] : []),
    ...(max !== undefined && compare(own, max) > 0
      ? [invalid(places.max, own, 'the default is more than the maximum')]
      : []),
    ...(step === undefined
      ? []
      : checkStep(step, { min, value, amounts: max === undefined ? [own] : [own, max] }, places.step)),
  ]
}

interface Steps {
  readonly min: string
  readonly value: string
  /** Amounts that must equal the minimum plus a multiple of the step. */
  readonly amounts: readonly string[]
}

function checkStep(step: string, { min, value, amounts }: Steps, path: FieldPath): FieldError[] {
  const [size, least] = [wholeUnits(step), wholeUnits(min)]
  if (size === 0n) return [invalid(path, step, 'must not be zero')]
  const next = parseQuantity(step)!.nanos + parseQuantity(min)!.nanos
  return [
    ...(next > parseQuantity(value)!.nanos
      ? [invalid(path, step, 'the minimum plus one step must not exceed the capacity')]
      : []),
    ...amounts
      .filter((amount) => (wholeUnits(amount) - least) % size !== 0n)
      .map((amount) => invalid(path, amount, 'must be the minimum plus a multiple of the step')),
  ]
}

const unit = 1_000_000_000n

/** Converts an amount to whole units, rounded up. */
function wholeUnits(amount: string): bigint {
  const { nanos } = parseQuantity(amount)!
  return nanos / unit + (nanos % unit > 0n ? 1n : 0n)
}
