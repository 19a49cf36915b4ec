/** A ClusterRoleBinding grants a ClusterRole to users, groups and service accounts in the whole cluster. */
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
    nameFormat: checkPathSegment,
  },
  doc: 'Grants a ClusterRole to users, groups and service accounts throughout the cluster.',
  fields: bindingFields,
  rules: {
    validate: (object, { vendor }) => checkBinding(object, { roles: ['ClusterRole'], namespaced: false }, vendor),
    validateUpdate: checkSameRole,
  },
  lifecycle: { createOnUpdate: true },
  views: { columns: bindingColumns },
})
