/**
 * PodDisruptionBudget: how many of some pods may be taken away at once by those who ask (`pods/eviction`).
 *
 * An empty selector means all pods of the namespace in v1, and none in v1beta1. So v1 shows one that v1beta1 wrote as a
 * selector by a label that no pod has, and v1beta1 one that v1 wrote as one by the absence of that label. In v1 a
 * strategic merge patch replaces the selector.
 */

import { sameJson } from '../../json/json.ts'
import { child, type FieldError, type FieldPath, invalid } from '../../model/field-error.ts'
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
  zero: 'keep',
  doc: 'How many of the pods must be left: a number or a percentage. Not together with maxUnavailable.',
})
const maxUnavailable = field(3, s.intOrString(), {
  zero: 'keep',
  doc: 'How many of the pods may be missing: a number or a percentage.',
})

const selector = { doc: 'Which pods it is about; none if unset.' }
const specNames = { name: 'PodDisruptionBudgetSpec', doc: 'How many of which pods may be missing.' }

const specFields = {
  minAvailable,
  selector: field(2, labelSelector, { ...selector, patch: 'replace' }),
  maxUnavailable,
}

const spec = s.object(specFields, { ...specNames, check: checkSpec })
const specV1beta1 = s.object({ minAvailable, selector: field(2, labelSelector, selector), maxUnavailable }, specNames)

const count = (tag: number, doc: string) => field(tag, s.int32(), { zero: 'write', published: 'required', doc })

const statusFields = {
  observedGeneration: field(1, s.int64(), { doc: 'The generation that the controller has seen.' }),
  disruptedPods: field(2, s.map(s.time()), {
    doc: 'Pods that were granted to be taken away and are still there, with the time of that.',
  }),
  disruptionsAllowed: count(3, 'How many pods may be taken away now.'),
  currentHealthy: count(4, 'How many of the pods are well.'),
  desiredHealthy: count(5, 'How many of them must be.'),
  expectedPods: count(6, 'How many pods there are.'),
  conditions: field(7, conditions, { doc: 'What else is known of it, such as whether any may be taken away.' }),
}

const status = s.object(statusFields, {
  name: 'PodDisruptionBudgetStatus',
  doc: 'How many of the pods may be taken away now.',
})

const specDoc = { zero: 'write', doc: 'How many of which pods may be missing.' } as const
const statusField = field(3, status, {
  zero: 'write',
  doc: 'How many of the pods may be disrupted now. Set by the controller, and reduced by each eviction.',
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
    form: checkPathSegment,
  },
  doc: 'How many of some pods may be taken away at once.',
  fields,
  rules: specAndStatus<PodDisruptionBudget>({
    fillDefaults: ({ spec }, { vendor }) => dropMark(spec, vendor),
    newStatus: () => ({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }),
    generation: ({ spec }) => spec,
    metadataLast: () => true,
    validateUpdate: ({ status = {} }, _, context) =>
      context.subresource === 'status' ? checkStatus(status, context) : [],
  }),
  life: { needsVersion: true, plainFinalizers: true },
  views: {
    columns: [
      nameColumn,
      column('Min Available', 'How many of the pods must be left.', ({ spec }: PodDisruptionBudget) => {
        return String(spec?.minAvailable ?? 'N/A')
      }),
      column('Max Unavailable', 'How many of the pods may be missing.', ({ spec }: PodDisruptionBudget) => {
        return String(spec?.maxUnavailable ?? 'N/A')
      }),
      countColumn('Allowed Disruptions', 'How many pods may be taken away now.', ({ status }: PodDisruptionBudget) => {
        return status?.disruptionsAllowed
      }),
      ageColumn,
    ],
    subresources: { status: plainStatus },
  },
})

export const podDisruptionBudgetV1beta1 = defineVersion(podDisruptionBudget, {
  version: 'v1beta1',
  fields: fieldsV1beta1,
  deprecated: {
    since: 'v1.21',
    until: 'v1.25',
    instead: { group: 'policy', version: 'v1', kind: 'PodDisruptionBudget' },
  },
  fromStored: (object: PodDisruptionBudget, vendor) => withSelector(object, (each) => toV1beta1(each, vendor)),
  toStored: (object: PodDisruptionBudget, vendor) => withSelector(object, (each) => fromV1beta1(each, vendor)),
})

type Operator = 'Exists' | 'DoesNotExist'

/** The label that no pod has: with `Exists` it selects none, with `DoesNotExist` all. */
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

/** The label is for these two meanings, and never beside anything else. */
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
  ]
}

function checkLimit(value: number | string | undefined, path: FieldPath): FieldError[] {
  return value === undefined ? [] : [...checkIntOrPercent(value, path), ...checkNotAboveAll(value, path)]
}

/** Through v1beta1 the counts were never judged. */
function checkStatus(value: PodDisruptionBudgetStatus, { through }: RuleContext): FieldError[] {
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const
  return [
    ...checkConditions(value.conditions, 'status.conditions'),
    ...(through === 'policy/v1beta1' ? [] : noneNegative(value, counts, 'status')),
  ]
}
