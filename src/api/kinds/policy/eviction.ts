/** Eviction: asks that a pod be taken away as far as its disruption budgets allow. An action: it is stored nowhere. */
import { defineKind, type Kind, type ObjectOf } from '../../schema/kind.ts'
import { deleteOptions } from '../../schema/meta-types.ts'
import { field } from '../../schema/schema.ts'

const fields = { deleteOptions: field(2, deleteOptions, { doc: 'How the pod is deleted.' }) }

export type Eviction = ObjectOf<typeof fields>

export const eviction = defineKind({
  names: { group: 'policy', version: 'v1', kind: 'Eviction', plural: 'evictions', scope: 'Namespaced' },
  doc: 'Asks that a pod be taken away as far as its disruption budgets allow.',
  fields,
  life: { virtual: true },
})

/** The same, as older clients send it. */
export const evictionV1beta1: Kind = { ...eviction, version: 'v1beta1' }
