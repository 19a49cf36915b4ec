/** A Taint repels pods from a node unless the pods tolerate the taint. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  maxFaults,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkLabelValue } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { repeatedAt } from './repeated.ts'

const fields = {
  key: field(1, s.string(), { zeroValue: 'write', published: 'required', doc: 'Key of the taint.' }),
  value: field(2, s.string(), { doc: 'Value of the taint. Tolerations can match it.' }),
  effect: field(3, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Effect on pods that do not tolerate the taint: `NoSchedule` and `PreferNoSchedule` repel new pods, and `NoExecute` also evicts running pods.',
  }),
  timeAdded: field(4, s.time(), { doc: 'Time when the taint was added. Set only for the effect `NoExecute`.' }),
}

export type Taint = InferFields<typeof fields>

export const taint = s.object(fields, {
  name: 'core.v1.Taint',
  doc: 'A mark on a node that repels pods unless they tolerate the taint.',
})

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Requires unique pairs of key and effect. */
export function checkTaints(taints: readonly Taint[], path: FieldPath): FieldError[] {
  const repeated = repeatedAt(taints.map(({ key = '', effect = '' }) => `${effect} ${key}`))
  return taints.slice(0, maxFaults).flatMap((one, i) => {
    const errors = checkTaint(one, at(path, i))
    return repeated.has(i) ? [...errors, duplicate(at(path, i), one)] : errors
  })
}

function checkTaint({ key = '', value = '', effect = '' }: Taint, path: FieldPath): FieldError[] {
  return [
    ...checkLabelKey(key, child(path, 'key')),
    ...checkLabelValue(value).map((text) => invalid(child(path, 'value'), value, text)),
    ...checkEffect(effect, child(path, 'effect')),
  ]
}

function checkEffect(effect: string, path: FieldPath): FieldError[] {
  if (effect === '') return [required(path)]
  return effects.includes(effect) ? [] : [notSupported(path, effect, effects)]
}
