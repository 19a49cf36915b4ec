/** A Role contains permissions in one namespace. A RoleBinding grants them. */
import { checkPathSegment } from '../../model/names.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { checkRules, policyRules } from './types/policy-rule.ts'

const fields = { rules: policyRules }

export type Role = ObjectOf<typeof fields>

export const role = defineKind({
  names: {
    group: 'rbac.authorization',
    version: 'v1',
    kind: 'Role',
    plural: 'roles',
    scope: 'Namespaced',
    nameFormat: checkPathSegment,
  },
  doc: 'A set of permissions within one namespace.',
  fields,
  rules: { validate: ({ rules = [] }) => checkRules(rules, { namespaced: true }) },
  lifecycle: { createOnUpdate: true },
})
