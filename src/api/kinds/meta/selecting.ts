/** Evaluates label selectors and converts them to the query syntax. */

import { checkLabelValue, checkQualifiedName } from '../../model/names.ts'
import { LabelMatcher, type Labels, type Requirement } from '../../selectors/label-selector.ts'
import { selectorText as textOf } from '../../selectors/selector-text.ts'
import type { LabelSelector } from './label-selector.ts'

type Expression = NonNullable<LabelSelector['matchExpressions']>[number]

/**
 * Returns whether the selector matches the labels, or undefined if the selector is invalid. An undefined selector
 * matches nothing, and an empty selector matches everything.
 */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean | undefined {
  if (selector === undefined) return false
  const requirements = requirementsOf(selector)
  return requirements && new LabelMatcher(requirements).matches(labels)
}

export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0
}

/** Returns the requirements of the selector, or undefined if an expression or label is invalid. */
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

/**
 * Returns the selector in query syntax, such as `a=b,c in (d,e),!f`, sorted by key. Returns '' for an empty or invalid
 * selector.
 */
export function selectorText(selector: LabelSelector | undefined): string {
  return selector === undefined || requirementsOf(selector) === undefined ? '' : textOf(selector)
}
