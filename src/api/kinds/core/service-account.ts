/**
 * ServiceAccount: an identity for what runs in pods. Pods name one, or get the one called `default`; its secrets and
 * its secrets for pulling images come to them through it.
 */
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { localObjectReference } from './types/local-references.ts'
import { objectReference } from './types/references.ts'

const secrets = s.list(objectReference, byName)

const fields = {
  secrets: field(2, secrets, { doc: 'Secrets in its namespace that its pods may use. Only their names are kept.' }),
  imagePullSecrets: field(3, s.list(localObjectReference), {
    doc: 'Secrets with which the images of its pods are pulled, where a pod names none itself.',
  }),
  automountServiceAccountToken: field(4, s.boolean(), {
    zero: 'keep',
    doc: 'Whether its pods get a token of it, where a pod says nothing itself; true if unset.',
  }),
}

export type ServiceAccount = ObjectOf<typeof fields>

const columns: readonly Column<ServiceAccount>[] = [
  nameColumn,
  column('Secrets', 'How many secrets its pods may use.', ({ secrets = [] }) => secrets.length),
  ageColumn,
]

export const serviceAccount = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'ServiceAccount',
    plural: 'serviceaccounts',
    shortNames: ['sa'],
    scope: 'Namespaced',
  },
  doc: 'An identity for what runs in pods.',
  fields,
  rules: {
    prepareForCreate: keepNames,
    prepareForUpdate: keepNames,
  },
  life: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
  },
})

/** Secrets are of its own namespace, so their names say everything. Changes the object. */
function keepNames(object: ServiceAccount): void {
  if (object.secrets) object.secrets = object.secrets.map(({ name }) => (name ? { name } : {}))
}
