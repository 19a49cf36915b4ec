/**
 * An Eviction requests the deletion of a pod, subject to its disruption budgets. An eviction is an action and is never
 * stored.
 */
import { defineKind, type Kind, type ObjectOf } from '../../schema/kind.ts'
import { deleteOptions } from '../../schema/meta-types.ts'
import { field } from '../../schema/schema.ts'

const fields = { deleteOptions: field(2, deleteOptions, { doc: 'Options for deleting the pod.' }) }

export type Eviction = ObjectOf<typeof fields>

export const eviction = defineKind({
  names: { group: 'policy', version: 'v1', kind: 'Eviction', plural: 'evictions', scope: 'Namespaced' },
  doc: 'Requests the deletion of a pod. The request is rejected if it would violate a PodDisruptionBudget.',
  fields,
  lifecycle: { virtual: true },
})

/** Eviction in v1beta1, which has the same fields as v1. */
export const evictionV1beta1: Kind = { ...eviction, version: 'v1beta1' }
