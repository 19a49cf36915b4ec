/** Descriptions of access control objects: service accounts, roles and bindings. */

import type { Secret } from '../../../../api/kinds/core/secret.ts'
import type { ServiceAccount } from '../../../../api/kinds/core/service-account.ts'
import type { ClusterRole } from '../../../../api/kinds/rbac/cluster-role.ts'
import type { Role } from '../../../../api/kinds/rbac/role.ts'
import type { RoleBinding } from '../../../../api/kinds/rbac/role-binding.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { Session } from '../../connection/session.ts'
import { ruleHeadings, ruleRows } from '../../printers/rules.ts'
import { multiline } from './fields.ts'
import { head, lines, table } from './parts.ts'

export async function describeServiceAccount(account: ServiceAccount, { client, context }: Session): Promise<string> {
  const { namespace = '', name } = account.metadata
  const { items } = await client.list(kinds.Secret, { namespace, signal: context.signal })
  const there = new Set(items.map(({ metadata }) => metadata.name))
  const listNames = (list: readonly { name?: string }[] | undefined) =>
    (list ?? []).map(({ name: secret = '' }) => (there.has(secret) ? secret : `${secret} (not found)`))
  const tokens = (items as Secret[]).filter(
    ({ type, metadata: { annotations = {} } }) =>
      type?.endsWith('/service-account-token') &&
      Object.entries(annotations).some(([key, value]) => key.endsWith('/service-account.name') && value === name),
  )
  return [
    head(account),
    multiline('Image pull secrets', listNames(account.imagePullSecrets)),
    multiline('Mountable secrets', listNames(account.secrets)),
    multiline(
      'Tokens',
      tokens.map(({ metadata }) => metadata.name ?? ''),
    ),
  ].join('')
}

/** Writes the start of a description like `head`, but without the namespace, as kubectl does. */
function headOf(object: ApiObject): string {
  const { namespace: _, ...metadata } = object.metadata
  return head({ ...object, metadata })
}

export function describeRole(role: Role | ClusterRole): string {
  return `${headOf(role)}PolicyRule:\n${table(ruleHeadings, ruleRows(role.rules ?? []))}`
}

export function describeBinding(binding: RoleBinding): string {
  const { kind = '', name = '' } = binding.roleRef ?? {}
  const rows = (binding.subjects ?? []).map(({ kind = '', name = '', namespace = '' }) => [kind, name, namespace])
  const role = `Role:\n${lines({ Kind: kind, Name: name }, '  ')}`
  return `${headOf(binding)}${role}Subjects:\n${table(['Kind', 'Name', 'Namespace'], rows)}`
}
