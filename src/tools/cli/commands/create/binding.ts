/** `orchctl create rolebinding` and `clusterrolebinding`: create a binding of a role to subjects. */

import { groupName, type Vendor } from '../../../../api/model/vendor.ts'
import { flag, repeated, text, UsageError } from '../../../../base/flags/flags.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import { defineGenerator } from './generator.ts'

const subjectFlags = {
  user: repeated({ name: 'user', value: 'NAME', read: text, help: 'user to bind' }),
  group: repeated({ name: 'group', value: 'NAME', read: text, help: 'group to bind' }),
  serviceAccount: repeated({
    name: 'serviceaccount',
    value: 'NAMESPACE:NAME',
    read: text,
    help: 'service account to bind, as NAMESPACE:NAME',
  }),
}

interface SubjectOptions {
  readonly user: readonly string[]
  readonly group: readonly string[]
  readonly serviceAccount: readonly string[]
}

const clusterRole = flag({ name: 'clusterrole', value: 'NAME', read: text, help: 'cluster role to bind' })

export const createRoleBindingCommand = defineGenerator({
  name: 'rolebinding',
  about: 'Bind a role or a cluster role to users, groups and service accounts in one namespace.',
  examples: ['orchctl create rolebinding readers --clusterrole=view --user=alice --group=ops'],
  flags: {
    role: flag({ name: 'role', value: 'NAME', read: text, help: 'role to bind' }),
    clusterRole,
    ...subjectFlags,
  },
  type: kinds.RoleBinding,
  make: async ({ role, clusterRole, ...options }, invocation) => {
    if ((role === '') === (clusterRole === ''))
      throw new UsageError('exactly one of clusterrole or role must be specified')
    const vendor = await invocation.vendor()
    return {
      roleRef: refOf(vendor, role === '' ? 'ClusterRole' : 'Role', role || clusterRole),
      subjects: subjectsOf(options, vendor),
    }
  },
})

export const createClusterRoleBindingCommand = defineGenerator({
  name: 'clusterrolebinding',
  about: 'Bind a cluster role to users, groups and service accounts in the whole cluster.',
  examples: ['orchctl create clusterrolebinding admins --clusterrole=cluster-admin --group=ops'],
  flags: { clusterRole, ...subjectFlags },
  type: kinds.ClusterRoleBinding,
  make: async ({ clusterRole, ...options }, invocation) => {
    if (clusterRole === '') throw new UsageError('clusterrole must be specified')
    const vendor = await invocation.vendor()
    return { roleRef: refOf(vendor, 'ClusterRole', clusterRole), subjects: subjectsOf(options, vendor) }
  },
})

function refOf(vendor: Vendor, kind: string, name: string): object {
  return { apiGroup: groupName(vendor, 'rbac.authorization'), kind, name }
}

function subjectsOf(options: SubjectOptions, vendor: Vendor): object[] {
  return readSubjects(options, groupName(vendor, 'rbac.authorization'))
}

/** Returns the subjects of a binding, as specified by flags. */
export function readSubjects({ user, group, serviceAccount }: SubjectOptions, apiGroup: string): object[] {
  return [
    ...user.map((name) => ({ kind: 'User', apiGroup, name })),
    ...group.map((name) => ({ kind: 'Group', apiGroup, name })),
    ...serviceAccount.map(accountOf),
  ]
}

function accountOf(text: string): object {
  const [namespace = '', name = '', ...more] = text.split(':')
  if (namespace === '' || name === '' || more.length > 0)
    throw new UsageError('serviceaccount must be <namespace>:<name>')
  return { kind: 'ServiceAccount', namespace, name }
}
