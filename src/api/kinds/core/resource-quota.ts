/**
 * A ResourceQuota limits the total resources and the number of objects in a namespace. Scopes restrict a quota to
 * certain pods or claims. A controller maintains the status, which contains the enforced limits and the current usage.
 */

import { own } from '../../json/json.ts'
import { at, child, type FieldError, type FieldPath, invalid, maxFaults, required } from '../../model/field-error.ts'
import type { Vendor } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { isEnabled, isSince, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { plainStatus, specAndStatus } from '../spec-and-status.ts'
import { type ResourceList, resourceList, roundResources } from './types/resource-list.ts'
import {
  checkQuotaResourceName,
  checkResourceAmount,
  computeNames,
  isStandardForQuota,
} from './types/resource-names.ts'

const requirementFields = {
  scopeName: field(1, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Name of the scope that the requirement applies to.',
  }),
  operator: field(2, s.string(), {
    zeroValue: 'write',
    published: 'required',
    doc: 'Operator: `In`, `NotIn`, `Exists` or `DoesNotExist`. Only the scopes PriorityClass and VolumeAttributesClass support operators other than `Exists`.',
  }),
  values: field(3, s.list(s.string()), {
    doc: 'Names of PriorityClasses or VolumeAttributesClasses. Required for `In` and `NotIn`. Must be empty for `Exists` and `DoesNotExist`.',
  }),
}

type Requirement = InferFields<typeof requirementFields>

const requirement = s.object(requirementFields, {
  name: 'ScopedResourceSelectorRequirement',
  doc: 'A requirement on one quota scope.',
})

const scopeSelector = s.object(
  {
    matchExpressions: field(1, s.list(requirement), {
      doc: 'Scope requirements. The quota counts only objects that meet all of them.',
    }),
  },
  { name: 'ScopeSelector', doc: 'Limits a quota to the objects that meet all scope requirements.', atomic: true },
)

const specFields = {
  hard: field(1, resourceList, {
    doc: 'Maximum total amount of each resource in the namespace, keyed by resource name, such as `pods` or `requests.cpu`.',
  }),
  scopes: field(2, s.list(s.string()), {
    doc: 'Scopes that select the objects to count. `Terminating`, `NotTerminating`, `BestEffort`, `NotBestEffort`, `PriorityClass` and `CrossNamespacePodAffinity` select pods. `VolumeAttributesClass` selects claims. The quota counts only objects that match all scopes. Immutable.',
  }),
  scopeSelector: field(3, scopeSelector, {
    doc: 'Additional scope requirements. The quota counts only objects that meet all of them.',
  }),
}

type Spec = InferFields<typeof specFields>

const spec = s.object(specFields, {
  name: 'ResourceQuotaSpec',
  doc: 'Specification of a ResourceQuota.',
  fill: ({ hard }) => roundResources(hard),
  check: (value, path, context) => [
    ...checkAmounts(value.hard, child(path, 'hard'), context.vendor),
    ...checkScopes(value, child(path, 'scopes'), context),
    ...checkSelector(value, child(child(path, 'scopeSelector'), 'matchExpressions'), context),
  ],
})

const status = s.object(
  {
    hard: field(1, resourceList, { doc: 'Enforced limit on each resource.' }),
    used: field(2, resourceList, { doc: 'Current usage of each resource in the namespace.' }),
  },
  {
    name: 'ResourceQuotaStatus',
    doc: 'Observed status of a ResourceQuota.',
    fill: ({ hard, used }) => {
      roundResources(hard)
      roundResources(used)
    },
    check: ({ hard, used }, path, { vendor }) => [
      ...checkAmounts(hard, child(path, 'hard'), vendor),
      ...checkAmounts(used, child(path, 'used'), vendor),
    ],
  },
)

const fields = {
  spec: field(2, spec, { zeroValue: 'write', doc: 'Desired limits, and the objects to which they apply.' }),
  status: field(3, status, {
    zeroValue: 'write',
    doc: 'Enforced limits and current usage, set by the quota controller.',
  }),
}

export type ResourceQuota = ObjectOf<typeof fields>

const columns: readonly Column<ResourceQuota>[] = [
  nameColumn,
  { ...ageColumn, until: '1.33' },
  column('Request', 'Usage and limit for each resource request and each object count.', (quota) =>
    usage(quota, (name) => !name.startsWith('limits')),
  ),
  column('Limit', 'Usage and limit for each resource limit, such as `limits.cpu`.', (quota) =>
    usage(quota, (name) => name.startsWith('limits')),
  ),
  { ...ageColumn, since: '1.33' },
]

export const resourceQuota = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'ResourceQuota',
    plural: 'resourcequotas',
    shortNames: ['quota'],
    scope: 'Namespaced',
  },
  doc: 'Limits the total amount of resources and the number of objects in a namespace.',
  fields,
  rules: specAndStatus<ResourceQuota>({
    newStatus: () => ({}),
    validateUpdate: ({ spec: next = {} }, { spec: previous = {} }) => checkSameScopes(next, previous),
  }),
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
    subresources: { status: plainStatus },
  },
})

function usage({ status = {} }: ResourceQuota, isShown: (name: string) => boolean): string {
  const { hard = {}, used = {} } = status
  const names = Object.keys(hard).filter(isShown).sort()
  return names.map((name) => `${name}: ${own(used, name) ?? '0'}/${hard[name]}`).join(', ')
}

function checkAmounts(list: ResourceList = {}, path: FieldPath, vendor: Vendor): FieldError[] {
  const errors: FieldError[] = []
  for (const name of Object.keys(list)) {
    if (errors.length >= maxFaults) break
    const place = at(path, name)
    errors.push(...checkQuotaResourceName(name, place), ...checkResourceAmount([name, list[name]!], place, vendor))
  }
  return errors
}

/**
 * For each scope, reports whether a quota with that scope can limit a resource. BestEffort pods have no requests, so
 * only their number can be limited.
 */
const counted: { readonly [scope: string]: (name: string) => boolean } = {
  Terminating: ofPods,
  NotTerminating: ofPods,
  BestEffort: (name) => name === 'pods',
  NotBestEffort: ofPods,
  PriorityClass: ofPods,
  CrossNamespacePodAffinity: ofPods,
  VolumeAttributesClass: (name) => name === 'persistentvolumeclaims' || name === 'requests.storage',
}

/** Scopes that are compared with class names. All other scopes support only the operator Exists. */
const scopesWithValues = ['PriorityClass', 'VolumeAttributesClass']

function ofPods(name: string): boolean {
  return name === 'pods' || computeNames.has(name)
}

function isScope(scope: string, context: RuleContext): boolean {
  if (scope === 'VolumeAttributesClass') return isSince('1.31', context) && isEnabled('VolumeAttributesClass', context)
  return Object.hasOwn(counted, scope)
}

/**
 * Whether the scope can count every standard resource in `hard`. For example, services have no scope. Custom resource
 * names are valid in every scope.
 */
function fitsLimits(scope: string, { hard = {} }: Spec, context: RuleContext): boolean {
  if (!isScope(scope, context)) return true
  const counts = counted[scope]!
  return Object.keys(hard).every((name) => !isStandardForQuota(name) || counts(name))
}

const contradictions = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]

function contradicts(scopes: ReadonlySet<string>): boolean {
  return contradictions.some((pair) => pair.every((scope) => scopes.has(scope)))
}

function checkScopes(quotaSpec: Spec, path: FieldPath, context: RuleContext): FieldError[] {
  const { scopes = [] } = quotaSpec
  const distinct = new Set(scopes)
  return [
    ...[...distinct]
      .filter((scope) => !isScope(scope, context))
      .slice(0, maxFaults)
      .map((scope) => invalid(path, scope, 'unsupported scope')),
    ...[...distinct]
      .filter((scope) => !fitsLimits(scope, quotaSpec, context))
      .map((scope) => invalid(path, scope, 'unsupported scope applied to resource')),
    ...(contradicts(distinct) ? [invalid(path, scopes, 'conflicting scopes')] : []),
  ]
}

/** Validates the scope selector. Errors are reported for the list instead of the element, as clients expect. */
function checkSelector(quotaSpec: Spec, path: FieldPath, context: RuleContext): FieldError[] {
  const expressions = quotaSpec.scopeSelector?.matchExpressions ?? []
  const names = new Set(expressions.map(({ scopeName = '' }) => scopeName))
  const unfit = [...names].filter((scope) => !fitsLimits(scope, quotaSpec, context))
  return [
    ...expressions.slice(0, maxFaults).flatMap((expression) => checkRequirement(expression, path, context)),
    ...unfit.map((scope) => invalid(path, scope, 'unsupported scope applied to resource')),
    ...(contradicts(names) ? [invalid(path, [...names], 'conflicting scopes')] : []),
  ]
}

function checkRequirement(
  { scopeName = '', operator = '', values = [] }: Requirement,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const isKnown = isScope(scopeName, context)
  const plain = isKnown && !scopesWithValues.includes(scopeName)
  return [
    ...(isKnown ? [] : [invalid(child(path, 'scopeName'), scopeName, 'unsupported scope')]),
    ...(plain && operator !== 'Exists'
      ? [invalid(child(path, 'operator'), operator, `must be 'Exists' for the scope ${scopeName}`)]
      : []),
    ...checkOperator(operator, values, path),
  ]
}

function checkOperator(operator: string, values: readonly string[], path: FieldPath): FieldError[] {
  const place = child(path, 'values')
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required(place, "must be at least one value when `operator` is 'In' or 'NotIn'")]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [invalid(place, [...values], "must not be set when `operator` is 'Exists' or 'DoesNotExist'")]
    default:
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')]
  }
}

function checkSameScopes({ scopes: next = [] }: Spec, { scopes: previous = [] }: Spec): FieldError[] {
  const after = new Set(next)
  const before = new Set(previous)
  const same = after.size === before.size && next.every((scope) => before.has(scope))
  return same ? [] : [invalid('spec.scopes', next, 'field is immutable')]
}
