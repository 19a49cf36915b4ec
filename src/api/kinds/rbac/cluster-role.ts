/**
 * A ClusterRole contains permissions for the whole cluster, or for one namespace if a RoleBinding grants it. If a
 * ClusterRole has an aggregation rule, a controller fills in its rules from other ClusterRoles.
 */
import { at, type FieldError, invalid, required } from '../../model/field-error.ts'
import { checkPathSegment } from '../../model/names.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { labelSelector } from '../meta/label-selector.ts'
import { requirementsOf } from '../meta/selecting.ts'
import { checkRules, policyRules } from './types/policy-rule.ts'

const aggregationRule = s.object(
  {
    clusterRoleSelectors: field(1, s.list(labelSelector), {
      doc: 'Label selectors for the ClusterRoles to aggregate. A ClusterRole is included if at least one selector matches it.',
    }),
  },
  { name: 'AggregationRule', doc: 'Selects the ClusterRoles whose rules are aggregated into one role.' },
)

const fields = {
  rules: policyRules,
  aggregationRule: field(3, aggregationRule, {
    doc: 'Selects the ClusterRoles whose rules are aggregated into this role. If set, a controller overwrites `rules`.',
  }),
}

export type ClusterRole = ObjectOf<typeof fields>

export const clusterRole = defineKind({
  names: {
    group: 'rbac.authorization',
    version: 'v1',
    kind: 'ClusterRole',
    plural: 'clusterroles',
    scope: 'Cluster',
    nameFormat: checkPathSegment,
  },
  doc: 'A set of permissions in all namespaces and on cluster-scoped resources.',
  fields,
  rules: {
    validate: (object) => [...checkRules(object.rules ?? [], { namespaced: false }), ...checkAggregation(object)],
  },
  lifecycle: { createOnUpdate: true },
})

function checkAggregation({ aggregationRule }: ClusterRole): FieldError[] {
  if (aggregationRule === undefined) return []
  const { clusterRoleSelectors: selectors = [] } = aggregationRule
  const path = 'aggregationRule.clusterRoleSelectors'
  if (selectors.length === 0)
    return [required(path, 'at least one clusterRoleSelector required if aggregationRule is non-nil')]
  return selectors.flatMap((selector, i) =>
    requirementsOf(selector) === undefined ? [invalid(at(path, i), selector, 'invalid label selector.')] : [],
  )
}
