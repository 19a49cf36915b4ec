/** A ConfigMap contains configuration data for pods, as text or bytes. */
import { at, type FieldError, invalid, tooLong } from '../../model/field-error.ts'
import { checkConfigKey } from '../../model/names.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { forbiddenChange } from '../immutable.ts'

const maxTotalBytes = 1024 * 1024

const fields = {
  immutable: field(4, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the data is immutable. If true, `data`, `binaryData` and this field cannot change, but the metadata can.',
  }),
  data: field(2, s.map(s.string(), { key: checkConfigKey }), {
    doc: 'Configuration data as UTF-8 text, keyed by name. Keys consist of letters, digits, `-`, `_` and `.`, and must not also occur in `binaryData`.',
  }),
  binaryData: field(3, s.map(s.bytes(), { key: checkConfigKey }), {
    doc: 'Configuration data as Base64-encoded bytes, keyed by name. Keys must not also occur in `data`.',
  }),
}

export type ConfigMap = ObjectOf<typeof fields>

export const configMap = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'ConfigMap',
    plural: 'configmaps',
    shortNames: ['cm'],
    scope: 'Namespaced',
  },
  doc: 'Configuration data for pods, at most 1 MiB. Use a Secret for confidential data.',
  fields,
  rules: {
    validate: (object) => [...checkDisjoint(object), ...checkTotalSize(object)],
    validateUpdate: (next, previous) => (previous.immutable ? checkUnchanged(next, previous) : []),
  },
  views: {
    columns: [nameColumn, column('Data', 'Number of keys in `data` and `binaryData`.', countKeys), ageColumn],
  },
})

function countKeys({ data = {}, binaryData = {} }: ConfigMap): number {
  return Object.keys(data).length + Object.keys(binaryData).length
}

function checkDisjoint({ data = {}, binaryData }: ConfigMap): FieldError[] {
  if (binaryData === undefined) return []
  return Object.keys(data)
    .filter((key) => Object.hasOwn(binaryData, key))
    .map((key) => invalid(at('data', key), key, 'duplicate of key present in binaryData'))
}

function checkTotalSize({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  let bytes = 0
  for (const key in data) bytes += Buffer.byteLength(data[key]!)
  for (const key in binaryData) bytes += Buffer.byteLength(binaryData[key]!, 'base64')
  return bytes > maxTotalBytes ? [tooLong('data', maxTotalBytes)] : []
}

function checkUnchanged(next: ConfigMap, previous: ConfigMap): FieldError[] {
  return [
    ...forbiddenChange('immutable', next.immutable ?? false, true),
    ...forbiddenChange('data', next.data, previous.data),
    ...forbiddenChange('binaryData', next.binaryData, previous.binaryData),
  ]
}
