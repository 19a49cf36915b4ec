/**
 * A Binding assigns a pod to a node. A Binding represents an action and is never stored (see
 * `apiserver/resources/pod-binding.ts`).
 */
import { type FieldError, notSupported, required } from '../../model/field-error.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { objectReference } from './types/references.ts'

const fields = {
  target: field(2, objectReference, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Reference to the node that the pod is assigned to.',
  }),
}

export type Binding = ObjectOf<typeof fields>

export const binding = defineKind({
  names: { group: 'core', version: 'v1', kind: 'Binding', plural: 'bindings', scope: 'Namespaced' },
  doc: 'Assigns a pod to a node. The Binding has the same name as the pod.',
  fields,
  rules: { validate: checkTarget },
  lifecycle: { virtual: true, verbs: ['create'] },
})

function checkTarget({ target = {} }: Binding): FieldError[] {
  const { kind = '', name = '' } = target
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ]
}
