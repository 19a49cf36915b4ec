/** The condition type of newer kinds, with at most one condition per type. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../model/field-error.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkLabelKey } from '../../selectors/label-rules.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { byType } from '../list-keys.ts'

const fields = {
  type: field(1, s.string(), { zeroValue: 'write', doc: 'Type of the condition, as a qualified name.' }),
  status: field(2, s.string(), { zeroValue: 'write', doc: 'Status of the condition: `True`, `False` or `Unknown`.' }),
  observedGeneration: field(3, s.int64(), { doc: 'Generation of the object on which the condition is based.' }),
  lastTransitionTime: field(4, s.time(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Time when the status last changed.',
  }),
  reason: field(5, s.string(), {
    zeroValue: 'write',
    doc: 'Machine-readable reason for the last transition, in CamelCase. At most 1024 characters.',
  }),
  message: field(6, s.string(), {
    zeroValue: 'write',
    doc: 'Human-readable details about the last transition. At most 32768 characters.',
  }),
}

export type Condition = InferFields<typeof fields>

export const condition = s.object(fields, {
  name: 'meta.v1.Condition',
  doc: 'A condition of an object.',
})

export const conditions = s.list(condition, byType)

/** A list of conditions. A strategic merge patch replaces the whole list. */
export const replacedConditions = s.list(condition, { list: 'map', keys: ['type'] })

const maxReasonLength = 1024
const maxMessageLength = 32 * 1024
const statuses = ['False', 'True', 'Unknown']

export function checkConditions(all: readonly Condition[] = [], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(all.map(({ type }) => type ?? ''))
  return all.flatMap((one, i) => [
    ...(repeated.has(i) ? [duplicate(child(at(path, i), 'type'), one.type ?? '')] : []),
    ...checkCondition(one, at(path, i)),
  ])
}

function checkCondition(value: Condition, path: FieldPath): FieldError[] {
  const { type = '', status = '', observedGeneration = 0, lastTransitionTime, reason = '', message = '' } = value
  const generation = child(path, 'observedGeneration')
  return [
    ...checkLabelKey(type, child(path, 'type')),
    ...(statuses.includes(status) ? [] : [notSupported(child(path, 'status'), status, statuses)]),
    ...(observedGeneration < 0
      ? [invalid(generation, observedGeneration, 'must be greater than or equal to zero')]
      : []),
    ...(lastTransitionTime ? [] : [required(child(path, 'lastTransitionTime'), 'must be set')]),
    ...checkReason(reason, child(path, 'reason')),
    ...(message.length > maxMessageLength ? [tooLong(child(path, 'message'), maxMessageLength)] : []),
  ]
}

function checkReason(reason: string, path: FieldPath): FieldError[] {
  if (reason === '') return [required(path, 'must be set')]
  if (reason.length > maxReasonLength) return [tooLong(path, maxReasonLength)]
  if (/^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/.test(reason)) return []
  return [
    invalid(path, reason, "must start with a letter and consist of letters, digits, '_', ',' or ':' (e.g. 'My_name')"),
  ]
}
