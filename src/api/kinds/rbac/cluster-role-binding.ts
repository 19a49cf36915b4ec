/** ClusterRoleBinding: grants a ClusterRole everywhere to users, groups and service accounts. */
import { checkPathSegment } from '../../model/names.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { bindingColumns, bindingFields, checkBinding, checkSameRole } from './types/binding.ts'

export type ClusterRoleBinding = ObjectOf<typeof bindingFields>

export const clusterRoleBinding = defineKind({
  names: {
    group: 'rbac.authorization',
    version: 'v1',
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    scope: 'Cluster',
    form: checkPathSegment,
  },
  doc: 'Gives a ClusterRole in all namespaces and outside of them to users, groups and service accounts.',
  fields: bindingFields,
  rules: {
    validate: (object, { vendor }) => checkBinding(object, { roles: ['ClusterRole'], namespaced: false }, vendor),
    validateUpdate: checkSameRole,
  },
  life: { createOnUpdate: true },
  views: { columns: bindingColumns },
})
