/** Role: what may be done in its namespace by those that a RoleBinding gives it to. */
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
    form: checkPathSegment,
  },
  doc: 'What may be done in its namespace by those that it is given to.',
  fields,
  rules: { validate: ({ rules = [] }) => checkRules(rules, { namespaced: true }) },
  life: { createOnUpdate: true },
})
