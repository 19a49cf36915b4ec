/**
 * Label keys in affinity terms and spread constraints. For each key, the server adds a requirement to the label
 * selector of a new pod. The requirement contains the pod's own value for the label.
 */
import { own } from '../../../json/json.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../model/field-error.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import { checkLabelKey } from '../../../selectors/label-rules.ts'
import type { LabelSelector } from '../../meta/label-selector.ts'

interface KeyedSelector {
  labelSelector?: LabelSelector
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}

interface KeyedAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: KeyedSelector[]
  preferredDuringSchedulingIgnoredDuringExecution?: { podAffinityTerm?: KeyedSelector }[]
}

/** Spread constraints and affinity terms, which can contain label keys. */
interface KeyedParts {
  topologySpreadConstraints?: KeyedSelector[]
  affinity?: { podAffinity?: KeyedAffinity; podAntiAffinity?: KeyedAffinity }
}

/** Adds the requirements for the label keys of a new pod. Modifies the spec. */
export function addLabelRequirements(
  spec: KeyedParts,
  labels: { readonly [key: string]: string },
  context: RuleContext,
) {
  if (isEnabled('MatchLabelKeysInPodTopologySpreadSelectorMerge', context))
    for (const constraint of spec.topologySpreadConstraints ?? []) addRequirements(constraint, labels)
  for (const affinity of [spec.affinity?.podAffinity, spec.affinity?.podAntiAffinity]) {
    for (const term of affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) addRequirements(term, labels)
    for (const { podAffinityTerm: term } of affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      if (term !== undefined) addRequirements(term, labels)
  }
}

function addRequirements(keyed: KeyedSelector, labels: { readonly [key: string]: string }): void {
  const { labelSelector: selector, matchLabelKeys = [], mismatchLabelKeys = [] } = keyed
  if (selector === undefined) return
  const requirements = [
    ...matchLabelKeys.map((key) => ({ key, operator: 'In' })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: 'NotIn' })),
  ].flatMap(({ key, operator }) => {
    const value = own(labels, key)
    return typeof value === 'string' ? [{ key, operator, values: [value] }] : []
  })
  if (requirements.length === 0) return
  keyed.labelSelector = { ...selector, matchExpressions: [...(selector.matchExpressions ?? []), ...requirements] }
}

/**
 * Validates the label keys of an affinity term. The server has already added a requirement for each key to its
 * selector.
 */
export function checkLabelKeys(keyed: KeyedSelector, path: FieldPath): FieldError[] {
  const { matchLabelKeys = [], mismatchLabelKeys = [] } = keyed
  if (matchLabelKeys.length === 0 && mismatchLabelKeys.length === 0) return []
  const matched = new Set(matchLabelKeys)
  const place = child(path, 'matchLabelKeys')
  return [
    ...checkKeys(keyed, 'matchLabelKeys', path),
    ...checkKeys(keyed, 'mismatchLabelKeys', path),
    ...checkAddedKeys(keyed, path),
    ...mismatchLabelKeys.flatMap((key, i) =>
      matched.has(key) ? [invalid(at(place, i), key, 'exists in both matchLabelKeys and mismatchLabelKeys')] : [],
    ),
  ]
}

function checkKeys(keyed: KeyedSelector, list: 'matchLabelKeys' | 'mismatchLabelKeys', path: FieldPath) {
  const keys = keyed[list] ?? []
  if (keys.length === 0) return []
  const place = child(path, list)
  if (keyed.labelSelector === undefined)
    return [forbidden(place, 'must not be specified when labelSelector is not set')]
  return keys.flatMap((key, i) => checkLabelKey(key, at(place, i)))
}

/**
 * Reports keys that the selector already contains. Errors contain the path of the term and the index of the key, as
 * clients expect.
 */
function checkAddedKeys({ labelSelector = {}, matchLabelKeys = [] }: KeyedSelector, path: FieldPath): FieldError[] {
  const indexes = new Map(matchLabelKeys.map((key, i) => [key, i]))
  const before = new Set(Object.keys(labelSelector.matchLabels ?? {}))
  return (labelSelector.matchExpressions ?? []).flatMap(({ key = '' }) => {
    const index = indexes.get(key)
    const isRepeated = before.has(key)
    before.add(key)
    return isRepeated && index !== undefined
      ? [invalid(at(path, index), key, 'exists in both matchLabelKeys and labelSelector')]
      : []
  })
}

/** Validates the label keys of a constraint whose selector does not contain the requirements for these keys. */
export function checkUnmergedKeys(keyed: KeyedSelector, path: FieldPath): FieldError[] {
  const { labelSelector: { matchLabels = {}, matchExpressions = [] } = {}, matchLabelKeys = [] } = keyed
  const selected = new Set([...Object.keys(matchLabels), ...matchExpressions.map(({ key = '' }) => key)])
  const place = child(path, 'matchLabelKeys')
  return [
    ...checkKeys(keyed, 'matchLabelKeys', path),
    ...matchLabelKeys.flatMap((key, i) =>
      selected.has(key) ? [invalid(at(place, i), key, 'exists in both matchLabelKeys and labelSelector')] : [],
    ),
  ]
}
