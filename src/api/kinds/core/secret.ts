/** A Secret contains confidential data as bytes. Some types of Secrets require certain keys. */

import { isObject, own, setKey } from '../../json/json.ts'
import { parseNative } from '../../json/native-json.ts'
import { at, type FieldError, invalid, required, tooLong } from '../../model/field-error.ts'
import { checkConfigKey } from '../../model/names.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { keyPairFault } from '../../pki/key-pair.ts'
import { ageColumn, column, nameColumn } from '../../schema/columns.ts'
import { isSince } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, s } from '../../schema/schema.ts'
import { forbiddenChange, immutableField } from '../immutable.ts'

const maxDataBytes = 1024 * 1024

const fields = {
  immutable: field(5, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the data is immutable. If true, the data and this field cannot change, but the metadata can.',
  }),
  data: field(2, s.map(s.bytes(), { key: checkConfigKey }), {
    doc: 'Confidential data as Base64-encoded bytes, keyed by name. Keys consist of letters, digits, `-`, `_` and `.`.',
  }),
  stringData: field(4, s.map(s.string()), {
    doc: 'Confidential data as plain text, keyed by name. Write-only: the server merges the values into `data` and overwrites existing keys.',
  }),
  type: field(3, s.string(), {
    default: 'Opaque',
    doc: 'Type of the Secret. Some types require certain keys. Defaults to `Opaque`. Immutable.',
  }),
}

export type Secret = ObjectOf<typeof fields>

export const secret = defineKind({
  names: {
    group: 'core',
    version: 'v1',
    kind: 'Secret',
    plural: 'secrets',
    scope: 'Namespaced',
  },
  doc: 'Confidential data, such as passwords and keys. At most 1 MiB.',
  fields,
  rules: {
    fillDefaults: foldStringData,
    prepareForUpdate: keepType,
    validate: (object, { vendor }) => [...checkSize(object), ...checkType(object, vendor)],
    validateUpdate: (next, previous) => [
      ...immutableField('type', next.type, previous.type),
      ...(previous.immutable ? checkUnchanged(next, previous) : []),
    ],
    warnings: (object, _, context) =>
      isSince('1.27', context) && object.type === vendorKey(context.vendor, 'tls') ? keyPairWarnings(object) : [],
  },
  lifecycle: { secretFields: ['data'] },
  views: {
    columns: [
      nameColumn,
      column('Type', 'Type of the Secret.', (object: Secret) => object.type ?? ''),
      column('Data', 'Number of keys in `data`.', (object: Secret) => Object.keys(object.data ?? {}).length),
      ageColumn,
    ],
    selectable: (object) => ({ type: object.type ?? '' }),
    redactErrorValues: true,
  },
})

/** Merges `stringData` into `data`. The server never stores or returns `stringData`. */
function foldStringData(object: Secret): void {
  const text = object.stringData
  delete object.stringData
  if (text === undefined) return
  const data = { ...object.data }
  for (const [key, value] of Object.entries(text)) setKey(data, key, Buffer.from(value).toString('base64'))
  object.data = data
}

function keepType(next: Secret, previous: Secret): void {
  if (next.type === undefined && previous.type !== undefined) next.type = previous.type
}

function checkSize({ data = {} }: Secret): FieldError[] {
  let bytes = 0
  for (const key in data) bytes += Buffer.byteLength(data[key]!, 'base64')
  return bytes > maxDataBytes ? [tooLong('data', maxDataBytes)] : []
}

function checkType(object: Secret, vendor: Vendor): FieldError[] {
  switch (object.type) {
    case vendorKey(vendor, 'service-account-token'):
      return checkAccountName(object, vendorKey(vendor, 'service-account.name'))
    case vendorKey(vendor, 'dockercfg'):
      return checkJsonKey(object, '.dockercfg')
    case vendorKey(vendor, 'dockerconfigjson'):
      return checkJsonKey(object, '.dockerconfigjson')
    case vendorKey(vendor, 'basic-auth'):
      return checkOneKey(object, ['username', 'password'])
    case vendorKey(vendor, 'ssh-auth'):
      return decodedText(object, 'ssh-privatekey') ? [] : [required(at('data', 'ssh-privatekey'))]
    case vendorKey(vendor, 'tls'):
      return ['tls.crt', 'tls.key']
        .filter((key) => decodedText(object, key) === undefined)
        .map((key) => required(at('data', key)))
    default:
      return []
  }
}

function checkAccountName(object: Secret, annotation: string): FieldError[] {
  return object.metadata.annotations?.[annotation] ? [] : [required(at('metadata.annotations', annotation))]
}

function checkJsonKey(object: Secret, key: string): FieldError[] {
  const text = decodedText(object, key)
  if (text === undefined) return [required(at('data', key))]
  return isJsonObject(text) ? [] : [invalid(at('data', key), '<secret contents redacted>', 'must be a JSON object')]
}

/** Accept `null`, because clients decode it as an empty object. */
function isJsonObject(text: string): boolean {
  try {
    const value = parseNative(text)
    return value === null || isObject(value)
  } catch {
    return false
  }
}

function checkOneKey(object: Secret, keys: readonly string[]): FieldError[] {
  if (keys.some((key) => decodedText(object, key) !== undefined)) return []
  return keys.map((key) => required(at('data', key)))
}

function decodedText({ data = {} }: Secret, key: string): string | undefined {
  const value = own(data, key)
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : undefined
}

/** Returns a warning about a certificate and key that no TLS server could use. The server stores them anyway. */
function keyPairWarnings({ data = {} }: Secret): string[] {
  const bytesOf = (key: string) => Buffer.from(String(own(data, key) ?? ''), 'base64')
  const fault = keyPairFault(bytesOf('tls.crt'), bytesOf('tls.key'))
  return fault === undefined ? [] : [`tls: ${fault}`]
}

function checkUnchanged(next: Secret, previous: Secret): FieldError[] {
  return [
    ...forbiddenChange('immutable', next.immutable ?? false, true),
    ...forbiddenChange('data', next.data, previous.data),
  ]
}
