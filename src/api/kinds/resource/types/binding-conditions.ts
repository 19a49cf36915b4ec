/** Validation of binding conditions: device conditions that must be met before a pod is bound. */
import { at, child, type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import { checkList } from './lists.ts'

const maxConditions = 4

interface Conditions {
  readonly bindingConditions?: readonly string[]
  readonly bindingFailureConditions?: readonly string[]
}

export function checkBindingConditions(value: Conditions, path: FieldPath): FieldError[] {
  const { bindingConditions: conditions = [], bindingFailureConditions: failures = [] } = value
  const places = { conditions: child(path, 'bindingConditions'), failures: child(path, 'bindingFailureConditions') }
  const rules = { max: maxConditions, key: (name: string) => name, check: checkLabelKey }
  return [
    ...checkList(conditions, places.conditions, rules),
    ...checkList(failures, places.failures, rules),
    ...(conditions.length === 0 && failures.length > 0
      ? [invalid(places.conditions, undefined, 'must be set if bindingFailureConditions is set')]
      : []),
    ...failures
      .slice(0, maxConditions)
      .flatMap((name, i) =>
        conditions.includes(name)
          ? [invalid(at(places.failures, i), name, 'must not also be in bindingConditions')]
          : [],
      ),
  ]
}
