/** An AppArmorProfile defines the operations that AppArmor permits in a pod or container. */
import {
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../model/field-error.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const fields = {
  type: field(1, s.string(), {
    zeroValue: 'write',
    doc: "Which profile to apply: `Localhost` (a profile loaded on the node), `RuntimeDefault` (the container runtime's profile) or `Unconfined` (none).",
  }),
  localhostProfile: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of a profile that is loaded on the node. Set only if the type is `Localhost`.',
  }),
}

export type AppArmorProfile = InferFields<typeof fields>

export const appArmorProfile = s.object(fields, {
  name: 'AppArmorProfile',
  doc: 'The AppArmor profile for a pod or container.',
  check: checkProfile,
})

const types = ['Localhost', 'RuntimeDefault', 'Unconfined']
const maxLength = 4095

function checkProfile({ type = '', localhostProfile: name }: AppArmorProfile, path: FieldPath): FieldError[] {
  const place = child(path, 'localhostProfile')
  if (type === '') return [required(child(path, 'type'), 'type is required when appArmorProfile is set')]
  if (!types.includes(type)) return [notSupported(child(path, 'type'), type, types)]
  if (type !== 'Localhost')
    return name === undefined ? [] : [invalid(place, name, 'can only be set when AppArmor type is Localhost')]
  if (!name) return [required(place, 'must be set when AppArmor type is Localhost')]
  return [
    ...(name === name.trim() ? [] : [invalid(place, name, 'must not be padded with whitespace')]),
    ...(Buffer.byteLength(name) > maxLength ? [tooLong(place, maxLength)] : []),
  ]
}
