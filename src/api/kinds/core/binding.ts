/** Binding: says which node a pod runs on. It is an action and is stored nowhere (`apiserver/resources/pod-binding.ts`). */
import { type FieldError, notSupported, required } from '../../model/field-error.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field } from '../../schema/schema.ts'
import { objectReference } from './types/references.ts'

const fields = {
  target: field(2, objectReference, { zero: 'write', published: 'required', doc: 'The node.' }),
}

export type Binding = ObjectOf<typeof fields>

export const binding = defineKind({
  names: { group: 'core', version: 'v1', kind: 'Binding', plural: 'bindings', scope: 'Namespaced' },
  doc: 'Says which node a pod runs on. The pod is the one of its name.',
  fields,
  rules: { validate: checkTarget },
  life: { virtual: true, verbs: ['create'] },
})

function checkTarget({ target = {} }: Binding): FieldError[] {
  const { kind = '', name = '' } = target
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ]
}
