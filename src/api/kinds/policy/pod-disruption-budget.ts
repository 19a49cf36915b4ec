/**
 * A PodDisruptionBudget limits the number of pods that can be evicted concurrently through `pods/eviction`.
 *
 * An empty selector means all pods of the namespace in v1, but no pods in v1beta1. The conversion therefore uses a
 * reserved label that no pod has. In v1, an empty v1beta1 selector appears as a requirement that the label exists. In
 * v1beta1, an empty v1 selector appears as a requirement that the label does not exist. In v1, a strategic merge patch
 * replaces the selector.
 */

import { sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, invalid, notSupported } from '../../model/field-error.ts'
import { checkPathSegment } from '../../model/names.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, defineVersion, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkIntOrPercent, checkNotAboveAll, noneNegative } from '../counts.ts'
import { checkConditions, conditions } from '../meta/condition.ts'
import { type LabelSelector, labelSelector } from '../meta/label-selector.ts'
import { isEmptySelector } from '../meta/selecting.ts'
import { countColumn } from '../pod-templates.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'

const minAvailable = field(1, s.intOrString(), {
  zeroValue: 'keep',
  doc: 'Minimum number or percentage of pods that must remain available. Mutually exclusive with `maxUnavailable`.',
})
const maxUnavailable = field(3, s.intOrString(), {
  zeroValue: 'keep',
  doc: 'Maximum number or percentage of pods that may be unavailable. Mutually exclusive with `minAvailable`.',
})

const selector = { doc: 'Label selector for the pods that the budget covers. If unset, no pods are selected.' }
const specNames = {
  name: 'PodDisruptionBudgetSpec',
  doc: 'Specification of a PodDisruptionBudget: the pods that it covers, and how many of them may be unavailable.',
}

const specFields = {
  minAvailable,
  selector: field(2, labelSelector, { ...selector, patch: 'replace' }),
  maxUnavailable,
  unhealthyPodEvictionPolicy: field(4, s.string(), {
    zeroValue: 'keep',
    since: '1.26',
    gate: 'PDBUnhealthyPodEvictionPolicy',
    doc: 'When to allow the eviction of pods that are not ready: only if the budget is met (`IfHealthyBudget`, the default) or always (`AlwaysAllow`).',
  }),
}

const spec = s.object(specFields, { ...specNames, check: checkSpec })
const specV1beta1 = s.object({ minAvailable, selector: field(2, labelSelector, selector), maxUnavailable }, specNames)

const count = (tag: number, doc: string) => field(tag, s.int32(), { zeroValue: 'write', published: 'required', doc })

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'Most recent generation that the controller has observed.' }),
  disruptedPods: field(2, s.map(s.time()), {
    doc: 'Pods that still exist although their eviction has been approved, with the time of the approval.',
  }),
  disruptionsAllowed: count(3, 'Number of pods that may currently be evicted.'),
  currentHealthy: count(4, 'Number of healthy pods.'),
  desiredHealthy: count(5, 'Minimum number of healthy pods that the budget requires.'),
  expectedPods: count(
    6,
    'Expected number of pods, derived from the scale of their controllers or from the number of matching pods.',
  ),
  conditions: field(7, conditions, { doc: 'Conditions of the budget, such as DisruptionAllowed.' }),
}

const status = s.object(statusFields, {
  name: 'PodDisruptionBudgetStatus',
  doc: 'Observed status of a PodDisruptionBudget.',
})

const specDoc = {
  zeroValue: 'write',
  doc: 'Pods that the budget covers, and how many of them may be unavailable.',
} as const
const statusField = field(3, status, {
  zeroValue: 'write',
  doc: 'Observed status of the budget, set by the controller. Each eviction decrements the number of allowed disruptions.',
})

const fields = { spec: field(2, spec, specDoc), status: statusField }
const fieldsV1beta1 = { spec: field(2, specV1beta1, specDoc), status: statusField }

export type PodDisruptionBudget = ObjectOf<typeof fields>
export type PodDisruptionBudgetStatus = InferFields<typeof statusFields>

export const podDisruptionBudget = defineKind({
  names: {
    group: 'policy',
    version: 'v1',
    kind: 'PodDisruptionBudget',
    plural: 'poddisruptionbudgets',
    shortNames: ['pdb'],
    scope: 'Namespaced',
    nameFormat: checkPathSegment,
  },
  doc: 'Limits how many pods of a set can be evicted at the same time.',
  fields,
  rules: specAndStatus<PodDisruptionBudget>({
    fillDefaults: ({ spec }, { vendor }) => dropMark(spec, vendor),
    newStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
    generation: ({ spec }) => spec,
    metadataLast: () => true,
    validateUpdate: ({ status = {} }, _, context) =>
      context.subresource === 'status' ? checkStatus(status, context) : [],
  }),
  lifecycle: { needsVersion: true, plainFinalizers: true },
  views: {
    columns: [
      nameColumn,
      column(
        'Min Available',
        'Minimum number or percentage of pods that must remain available.',
        ({ spec }: PodDisruptionBudget) => {
          return String(spec?.minAvailable ?? 'N/A')
        },
      ),
      column(
        'Max Unavailable',
        'Maximum number or percentage of pods that may be unavailable.',
        ({ spec }: PodDisruptionBudget) => {
          return String(spec?.maxUnavailable ?? 'N/A')
        },
      ),
      countColumn(
        'Allowed Disruptions',
        'Number of pods that may currently be evicted.',
        ({ status }: PodDisruptionBudget) => {
          return status?.disruptionsAllowed
        },
      ),
      ageColumn,
    ],
    subresources: { status: plainStatus },
  },
})

export const podDisruptionBudgetV1beta1 = defineVersion(podDisruptionBudget, {
  version: 'v1beta1',
  fields: fieldsV1beta1,
  until: '1.25',
  deprecated: { since: '1.21', instead: { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' } },
  fromStored: (object: PodDisruptionBudget, vendor) => withSelector(object, (each) => toV1beta1(each, vendor)),
  toStored: (object: PodDisruptionBudget, vendor) => withSelector(object, (each) => fromV1beta1(each, vendor)),
})

type Operator = 'Exists' | 'DoesNotExist'

/**
 * Returns the reserved label key that no pod has. The operator `Exists` with the given key matches no pods, and
 * `DoesNotExist` matches all pods.
 */
function markKey(vendor: Vendor): string {
  return vendorKey(vendor, 'deprecated-v1beta1-empty-selector-match', 'pdb')
}

function marked(operator: Operator, vendor: Vendor): LabelSelector {
  return { matchExpressions: [{ key: markKey(vendor), operator }] }
}

function isMarked(selector: LabelSelector, operator: Operator, vendor: Vendor): boolean {
  return sameJson(selector, marked(operator, vendor))
}

function withSelector(object: PodDisruptionBudget, convert: (selector: LabelSelector) => LabelSelector) {
  const { spec } = object
  return spec?.selector === undefined ? object : { ...object, spec: { ...spec, selector: convert(spec.selector) } }
}

function toV1beta1(selector: LabelSelector, vendor: Vendor): LabelSelector {
  if (isMarked(selector, 'Exists', vendor)) return {}
  return isEmptySelector(selector) ? marked('DoesNotExist', vendor) : selector
}

function fromV1beta1(selector: LabelSelector, vendor: Vendor): LabelSelector {
  if (isEmptySelector(selector)) return marked('Exists', vendor)
  return isMarked(selector, 'DoesNotExist', vendor) ? {} : withoutMark(selector, vendor)
}

/** Removes the reserved label from selectors that contain other requirements. */
function dropMark(spec: InferFields<typeof specFields> | undefined, vendor: Vendor): void {
  if (spec?.selector === undefined || isMarked(spec.selector, 'Exists', vendor)) return
  spec.selector = withoutMark(spec.selector, vendor)
}

function withoutMark(selector: LabelSelector, vendor: Vendor): LabelSelector {
  const mark = markKey(vendor)
  const { matchLabels, matchExpressions } = selector
  if (!Object.hasOwn(matchLabels ?? {}, mark) && !matchExpressions?.some(({ key }) => key === mark)) return selector
  const labels = Object.entries(matchLabels ?? {}).filter(([key]) => key !== mark)
  const expressions = (matchExpressions ?? []).filter(({ key }) => key !== mark)
  return {
    ...(labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) }),
    ...(expressions.length === 0 ? {} : { matchExpressions: expressions }),
  }
}

function checkSpec(value: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  const both = value.minAvailable !== undefined && value.maxUnavailable !== undefined
  return [
    ...(both ? [invalid(path, value, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...(['minAvailable', 'maxUnavailable'] as const).flatMap((name) => checkLimit(value[name], child(path, name))),
    ...checkEvictionPolicy(value.unhealthyPodEvictionPolicy, child(path, 'unhealthyPodEvictionPolicy')),
  ]
}

const evictionPolicies = ['AlwaysAllow', 'IfHealthyBudget']

function checkEvictionPolicy(policy: string | undefined, path: FieldPath): FieldError[] {
  if (policy === undefined || evictionPolicies.includes(policy)) return []
  return [notSupported(path, policy, evictionPolicies)]
}

function checkLimit(value: number | string | undefined, path: FieldPath): FieldError[] {
  return value === undefined ? [] : [...checkIntOrPercent(value, path), ...checkNotAboveAll(value, path)]
}

/** Validates the status of a budget. In v1beta1, the counts are not validated. */
function checkStatus(value: PodDisruptionBudgetStatus, { through }: RuleContext): FieldError[] {
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const
  return [
    ...checkConditions(value.conditions, 'status.conditions'),
    ...(through === 'policy/v1beta1' ? [] : noneNegative(value, counts, 'status')),
  ]
}
