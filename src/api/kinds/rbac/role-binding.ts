/**
 * A RoleBinding grants a Role, or a ClusterRole limited to the namespace of the binding, to users, groups and service
 * accounts.
 */
import { checkPathSegment } from '../../model/names.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { bindingColumns, bindingFields, checkBinding, checkSameRole } from './types/binding.ts'

export type RoleBinding = ObjectOf<typeof bindingFields>

const roles = ['Role', 'ClusterRole']

export const roleBinding = defineKind({
  names: {
    group: 'rbac.authorization',
    version: 'v1',
    kind: 'RoleBinding',
    plural: 'rolebindings',
    scope: 'Namespaced',
    nameFormat: checkPathSegment,
  },
  doc: 'Grants a role to users, groups and service accounts within one namespace.',
  fields: bindingFields,
  rules: {
    validate: (object, { vendor }) => checkBinding(object, { roles, namespaced: true }, vendor),
    validateUpdate: checkSameRole,
  },
  lifecycle: { createOnUpdate: true },
  views: { columns: bindingColumns },
})
