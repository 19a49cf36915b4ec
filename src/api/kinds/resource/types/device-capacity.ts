/** DeviceCapacity: an amount that a device has, and how much of it one request may consume. */
import { child, type FieldError, type FieldPath, forbidden, invalid, required } from '../../../model/field-error.ts'
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

type Policy = InferFields<typeof policyFields>

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

/** Checks a capacity of a device. Only shared devices have a policy. */
export function checkCapacity(
  { value = '0', requestPolicy: policy }: InferFields<typeof capacityFields>,
  { isShared, path }: { readonly isShared: boolean; readonly path: FieldPath },
): FieldError[] {
  if (policy === undefined) return []
  const place = child(path, 'requestPolicy')
  if (!isShared) return [forbidden(place, 'allowMultipleAllocations must be true')]
  if (policy.validValues && policy.validRange)
    return [forbidden(place, '`validValues` and `validRange` are mutually exclusive')]
  const needsDefault = policy.default === undefined && (policy.validValues || policy.validRange)
  return [
    ...(needsDefault ? [required(child(place, 'default'), 'is required with valid values or a valid range')] : []),
    ...(policy.validValues ? checkValues(policy, value, child(place, 'validValues')) : []),
    ...(policy.validRange ? checkRange(policy, value, child(place, 'validRange')) : []),
  ]
}

const compare = (a: string, b: string) => compareQuantities(parseQuantity(a)!, parseQuantity(b)!)

function checkValues(
  { validValues: values = [], default: own }: Policy,
  capacity: string,
  path: FieldPath,
): FieldError[] {
  return [
    ...checkList(values, path, {
      max: maxValues,
      check: (value, place) =>
        compare(value, capacity) > 0 ? [invalid(place, value, 'must not exceed the capacity')] : [],
    }),
    ...(values.some((value, i) => i > 0 && compare(values[i - 1]!, value) >= 0)
      ? [invalid(path, values, 'must be in ascending order')]
      : []),
    ...(own === undefined || values.some((value) => compare(value, own) === 0)
      ? []
      : [invalid(path, own, 'the default is not one of the valid values')]),
  ]
}

function checkRange({ validRange = {}, default: own }: Policy, capacity: string, path: FieldPath): FieldError[] {
  const { min, max, step } = validRange
  if (min === undefined) return [required(child(path, 'min'))]
  const upper = max ?? capacity
  const isOutside = own !== undefined && (compare(own, min) < 0 || compare(own, upper) > 0)
  return [
    ...(compare(min, upper) > 0 ? [invalid(child(path, 'min'), min, 'must not exceed the maximum')] : []),
    ...(compare(upper, capacity) > 0 ? [invalid(child(path, 'max'), upper, 'must not exceed the capacity')] : []),
    ...(isOutside ? [invalid(path, own, 'the default is outside of the range')] : []),
    ...(own !== undefined && !isOutside && !isStep(own, min, step)
      ? [invalid(path, own, 'the default is not the minimum plus a multiple of the step')]
      : []),
    ...(isStep(upper, min, max === undefined ? undefined : step)
      ? []
      : [invalid(child(path, 'step'), step, 'must divide the difference of maximum and minimum')]),
  ]
}

/** Whether an amount is the minimum plus a multiple of the step. */
function isStep(amount: string, min: string, step: string | undefined): boolean {
  const size = step === undefined ? 0n : parseQuantity(step)!.nanos
  return size === 0n || (parseQuantity(amount)!.nanos - parseQuantity(min)!.nanos) % size === 0n
}
