/**
 * A ServiceAccount is an identity for processes that run in pods. A pod uses the account that it specifies, or
 * `default` if it specifies none. The account provides its pods with Secrets and image pull secrets.
 */
import { vendorKey } from '../../model/vendor.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { isSince, type RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { byName } from '../list-keys.ts'
import { localObjectReference } from './types/local-references.ts'
import { objectReference } from './types/references.ts'

const secrets = s.list(objectReference, byName)

const fields = {
  secrets: field(2, secrets, {
    doc: 'Secrets in the same namespace that pods using this service account may use. Only the names of the Secrets are stored.',
  }),
  imagePullSecrets: field(3, s.list(localObjectReference), {
    doc: 'Secrets for pulling the images of pods that use this service account and do not set `imagePullSecrets`.',
  }),
  automountServiceAccountToken: field(4, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether to mount an API token into pods that use this service account. A pod can override this setting. If unset, the token is mounted.',
  }),
}

export type ServiceAccount = ObjectOf<typeof fields>

const columns: readonly Column<ServiceAccount>[] = [
  nameColumn,
  {
    ...column(
      'Secrets',
      'Number of Secrets that pods using this service account may use.',
      ({ secrets = [] }: ServiceAccount) => {
        return secrets.length
      },
    ),
    until: '1.36',
  },
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
  doc: 'An identity for processes that run in pods.',
  fields,
  rules: {
    prepareForCreate: keepNames,
    prepareForUpdate: keepNames,
    warnings: warningsFor,
  },
  lifecycle: {
    deleteAnswers: 'object',
  },
  views: {
    columns,
  },
})

/**
 * Reduces the references to their names, because the Secrets are always in the account's namespace. Modifies the
 * object.
 */
function keepNames(object: ServiceAccount): void {
  if (object.secrets) object.secrets = object.secrets.map(({ name }) => (name ? { name } : {}))
}

/**
 * Returns warnings about a service account. Since 1.32, the annotation that restricts pods to the Secrets of their
 * account is deprecated.
 */
function warningsFor(
  { metadata }: ServiceAccount,
  previous: ServiceAccount | undefined,
  context: RuleContext,
): string[] {
  const key = vendorKey(context.vendor, 'enforce-mountable-secrets')
  const isNew = metadata.annotations?.[key] !== undefined && previous?.metadata.annotations?.[key] === undefined
  return isNew && isSince('1.32', context)
    ? [`metadata.annotations[${key}]: deprecated; use separate namespaces to isolate access to mounted secrets`]
    : []
}
