/** Table columns for both kinds of policy bindings. */
import type { ObjectMeta } from '../../../model/object.ts'
import { ageColumn, type Column, column, nameColumn } from '../../../schema/columns.ts'
import type { ParamRef } from './policy-parts.ts'

type Binding = {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  spec?: { policyName?: string | undefined; paramRef?: ParamRef | undefined } | undefined
}

export const bindingColumns: readonly Column<Binding>[] = [
  nameColumn,
  column('PolicyName', 'Name of the policy.', ({ spec }: Binding) => spec?.policyName ?? ''),
  column('ParamRef', 'Parameters that the binding supplies to the policy.', ({ spec }: Binding) =>
    paramText(spec?.paramRef),
  ),
  ageColumn,
]

function paramText(paramRef: ParamRef | undefined): string {
  if (paramRef === undefined) return '<unset>'
  const { namespace = '', name = '' } = paramRef
  if (name === '') return '*'
  return namespace === '' ? `*/${name}` : `${namespace}/${name}`
}
