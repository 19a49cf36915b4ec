/** Fields and validation shared by RoleBinding and ClusterRoleBinding. The referenced role is immutable. */

import { sameJson } from '../../../json/json.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsSubdomain, checkPathSegment } from '../../../model/names.ts'
import { groupName, type Vendor } from '../../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../../schema/columns.ts'
import type { ObjectOf } from '../../../schema/kind.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const subjectKinds = ['ServiceAccount', 'User', 'Group']

const groupOf = (vendor: Vendor) => groupName(vendor, 'rbac.authorization')

const refFields = {
  apiGroup: field(1, s.string(), { zeroValue: 'write', doc: 'API group of the role. Defaults to the RBAC group.' }),
  kind: field(2, s.string(), { zeroValue: 'write', doc: 'Kind of the role: `Role` or `ClusterRole`.' }),
  name: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the role.' }),
}

type RoleRef = InferFields<typeof refFields>

const roleRef = s.object(refFields, {
  name: 'RoleRef',
  doc: 'Reference to the granted role.',
  atomic: true,
  fill: (value, { vendor }) => {
    if (!value.apiGroup) value.apiGroup = groupOf(vendor)
  },
})

const subjectFields = {
  kind: field(1, s.string(), { zeroValue: 'write', doc: 'Kind of the subject: `User`, `Group` or `ServiceAccount`.' }),
  apiGroup: field(2, s.string(), {
    doc: 'API group of the subject. Defaults to the RBAC group for users and groups, and to an empty string for service accounts.',
  }),
  name: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the subject.' }),
  namespace: field(4, s.string(), {
    doc: 'Namespace of the service account. Required for service accounts in a ClusterRoleBinding.',
  }),
}

type Subject = InferFields<typeof subjectFields>

const subject = s.object(subjectFields, {
  name: 'Subject',
  doc: 'A user, group or service account to which the role is granted.',
  atomic: true,
  fill: (value, { vendor }) => {
    if (!value.apiGroup && (value.kind === 'User' || value.kind === 'Group')) value.apiGroup = groupOf(vendor)
  },
})

export const bindingFields = {
  subjects: field(2, s.list(subject), { doc: 'Users, groups and service accounts to which the role is granted.' }),
  roleRef: field(3, roleRef, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Role that the binding grants. Immutable.',
  }),
}

export type Binding = ObjectOf<typeof bindingFields>

const of = ({ subjects = [] }: Binding, kind: string) => subjects.filter((each) => each.kind === kind)

export const bindingColumns: readonly Column<Binding>[] = [
  nameColumn,
  column('Role', 'Role that the binding grants.', ({ roleRef }) => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`),
  ageColumn,
  column('Users', 'Names of the users to which the role is granted.', (object) => namesOf(of(object, 'User')), 1),
  column('Groups', 'Names of the groups to which the role is granted.', (object) => namesOf(of(object, 'Group')), 1),
  column(
    'ServiceAccounts',
    'Names of the service accounts to which the role is granted.',
    (object) =>
      of(object, 'ServiceAccount')
        .map(({ namespace = '', name = '' }) => `${namespace}/${name}`)
        .join(', '),
    1,
  ),
]

function namesOf(subjects: readonly Subject[]): string {
  return subjects.map(({ name = '' }) => name).join(', ')
}

interface BindingRules {
  /** Kinds of roles that the binding may refer to. */
  readonly roles: readonly string[]
  /** Whether the binding has a namespace. If so, the service accounts in the binding need not specify a namespace. */
  readonly namespaced: boolean
}

export function checkBinding(object: Binding, { roles, namespaced }: BindingRules, vendor: Vendor): FieldError[] {
  const subjects = object.subjects ?? []
  return [
    ...checkRoleRef(object.roleRef ?? {}, roles, groupOf(vendor)),
    ...subjects.flatMap((each, i) => checkSubject(each, at('subjects', i), { namespaced, group: groupOf(vendor) })),
  ]
}

export function checkSameRole(next: Binding, previous: Binding): FieldError[] {
  if (sameJson(next.roleRef, previous.roleRef)) return []
  return [invalid('roleRef', next.roleRef, 'cannot change roleRef')]
}

function checkRoleRef({ apiGroup = '', kind = '', name = '' }: RoleRef, roles: readonly string[], group: string) {
  return [
    ...(apiGroup === group ? [] : [notSupported('roleRef.apiGroup', apiGroup, [group])]),
    ...(roles.includes(kind) ? [] : [notSupported('roleRef.kind', kind, roles)]),
    ...(name === '' ? [required('roleRef.name')] : []),
    ...checkPathSegment(name).map((fault) => invalid('roleRef.name', name, fault)),
  ]
}

function checkSubject(
  subject: Subject,
  path: FieldPath,
  { namespaced, group }: { readonly namespaced: boolean; readonly group: string },
): FieldError[] {
  const { kind = '', name = '', namespace = '', apiGroup = '' } = subject
  const isAccount = kind === 'ServiceAccount'
  if (!subjectKinds.includes(kind))
    return [
      ...(name === '' ? [required(child(path, 'name'))] : []),
      notSupported(child(path, 'kind'), kind, subjectKinds),
    ]
  const expectedGroup = isAccount ? '' : group
  const nameFaults = isAccount && name !== '' ? checkDnsSubdomain(name) : []
  return [
    ...(name === '' ? [required(child(path, 'name'))] : []),
    ...nameFaults.map((fault) => invalid(child(path, 'name'), name, fault)),
    ...(apiGroup === expectedGroup ? [] : [notSupported(child(path, 'apiGroup'), apiGroup, [expectedGroup])]),
    ...(isAccount && !namespaced && namespace === '' ? [required(child(path, 'namespace'))] : []),
  ]
}
