/** A LabelSelector at work: what it asks of labels, and the same written as a query writes it. */

import { checkLabelValue, checkQualifiedName } from '../../model/names.ts'
import { LabelMatcher, type Labels, type Requirement } from '../../selectors/label-selector.ts'
import { selectorText as textOf } from '../../selectors/selector-text.ts'
import type { LabelSelector } from './label-selector.ts'

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

/** Whether labels are selected. No selector selects nothing, an empty one everything; undefined where it makes no sense. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean | undefined {
  if (selector === undefined) return false
  const requirements = requirementsOf(selector)
  return requirements && new LabelMatcher(requirements).matches(labels)
}

export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0
}

/** Undefined where an expression or a label could never be one. */
export function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Requirement[] | undefined {
  const equal = Object.entries(matchLabels).map(([key, value]): Requirement => ({ op: 'in', key, values: [value] }))
  const further = matchExpressions.map(requirementOf).filter((each) => each !== undefined)
  if (further.length < matchExpressions.length) return undefined
  const all = [...equal, ...further]
  return all.every(isSound) ? all : undefined
}

function requirementOf({ key = '', operator, values = [] }: Expression): Requirement | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? { op: operator === 'In' ? 'in' : 'notin', key, values } : undefined
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? { op: operator === 'Exists' ? 'exists' : 'absent', key } : undefined
    default:
      return undefined
  }
}

function isSound(requirement: Requirement): boolean {
  if (checkQualifiedName(requirement.key).length > 0) return false
  return !('values' in requirement) || requirement.values.every((value) => checkLabelValue(value).length === 0)
}

/** `a=b,c in (d,e),!f`, in the order of the keys; empty where nothing is asked for or it makes no sense. */
export function selectorText(selector: LabelSelector | undefined): string {
  return selector === undefined || requirementsOf(selector) === undefined ? '' : textOf(selector)
}
