/**
 * Reads a part of a configuration file, such as the configuration of one admission plugin. The schema uses the same
 * notation as the schemas of kinds. Unknown fields, values of the wrong type and violated rules cause errors that name
 * the field. The caller adds the name of the file.
 *
 *     const fields = { limits: field(1, s.list(limit), { required: true, doc: 'Limits to enforce.' }) }
 *     const { limits = [] } = readConfiguration(value, {
 *       vendor, group: 'eventratelimit.admission', versions: ['v1alpha1'], kind: 'Configuration', fields,
 *     })
 */
import { isObject, type Json, type JsonObject, own } from '../json/json.ts'
import type { FieldPath } from '../model/field-error.ts'
import { apiVersionOf, type Vendor } from '../model/vendor.ts'
import { decode } from './decode.ts'
import { UnreadableValue } from './read-scalars.ts'
import { type Fields, type InferFields, type ObjectSchema, s } from './schema.ts'
import { validate } from './validate.ts'

/** Thrown for an invalid configuration. `path` is the path of the invalid field, or empty. */
export class ConfigurationFault extends Error {
  override readonly name = 'ConfigurationFault'
  readonly path: FieldPath

  constructor(path: FieldPath, message: string) {
    super(message)
    this.path = path
  }
}

export interface ConfigurationForm<F extends Fields> extends ConfigurationFields<F> {
  /** The short ID of the group, such as `apiserver.config`. */
  readonly group: string
  readonly versions: readonly string[]
  readonly kind: string
}

export interface ConfigurationFields<F extends Fields> {
  readonly vendor: Vendor
  readonly fields: F
}

/** Returns the configuration. Throws ConfigurationFault if the kind is wrong or if a field is unknown or invalid. */
export function readConfiguration<F extends Fields>(value: Json, form: ConfigurationForm<F>): InferFields<F> {
  const { vendor, group, versions, kind } = form
  if (!isObject(value)) throw new ConfigurationFault('', 'its configuration must be an object')
  const apiVersions = versions.map((version) => apiVersionOf(vendor, group, version))
  const apiVersion = own(value, 'apiVersion')
  if (own(value, 'kind') !== kind || typeof apiVersion !== 'string' || !apiVersions.includes(apiVersion))
    throw new ConfigurationFault('', `its configuration must be of kind ${kind} in ${apiVersions.join(' or ')}`)
  return readFields(withoutType(value), form)
}

/** Like `readConfiguration`, but for a configuration without apiVersion and kind. */
export function readFields<F extends Fields>(value: Json, { vendor, fields }: ConfigurationFields<F>): InferFields<F> {
  const schema = s.object(fields)
  const { value: read, unknown } = decodeFields(schema, value)
  const [unknownField] = unknown
  if (unknownField !== undefined)
    throw new ConfigurationFault(unknownField, `unknown field ${JSON.stringify(unknownField)}`)
  const [fault] = validate(schema, read, { vendor, subresource: '' })
  if (fault !== undefined) throw new ConfigurationFault(fault.path, `${fault.path}: ${fault.text}`)
  return read as InferFields<F>
}

function decodeFields(schema: ObjectSchema, value: Json): ReturnType<typeof decode> {
  try {
    return decode(schema, value)
  } catch (error) {
    if (error instanceof UnreadableValue) throw new ConfigurationFault(error.path, error.message)
    throw error
  }
}

function withoutType({ apiVersion: _apiVersion, kind: _kind, ...rest }: JsonObject): JsonObject {
  return rest
}
