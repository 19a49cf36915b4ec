/**
 * Reads the configuration of a control against a schema: kind and version as they must be, every field known, every
 * value of its type. What is wrong is thrown as one sentence that names the place; who knows the file adds it.
 */
import { firstFaults, summary } from '../model/field-error.ts'
import { isObject, type Json, type JsonObject, own } from '../model/json.ts'
import { apiVersionOf, type Vendor } from '../model/vendor.ts'
import { decode } from '../schema/decode.ts'
import { fillDefaults } from '../schema/defaults.ts'
import { type FieldOptions, field, type Infer, type ObjectSchema, type Schema } from '../schema/schema.ts'
import { validate } from '../schema/validate.ts'

export interface ConfigurationType {
  readonly vendor: Vendor
  /** The short id: `pod-security.admission.config`. */
  readonly group: string
  /** The ones that are read; they have the same fields. */
  readonly versions: readonly string[]
  readonly kind: string
}

/** A field of a configuration; it has no number, as it is never in Protobuf. */
export function setting<S extends Schema>(schema: S, options: FieldOptions) {
  return field(0, schema, options)
}

/** The fields besides `apiVersion` and `kind`. */
export function readConfiguration<S extends ObjectSchema>(schema: S, type: ConfigurationType, value: Json): Infer<S> {
  const versions = type.versions.map((version) => apiVersionOf(type.vendor, type.group, version))
  const isOne = isObject(value) && own(value, 'kind') === type.kind && versions.includes(`${own(value, 'apiVersion')}`)
  if (!isOne) throw new Error(`the configuration must be of kind ${type.kind} in ${versions.join(' or ')}`)
  const { apiVersion: _version, kind: _kind, ...fields } = value
  return readFields(schema, fields, type.vendor)
}

/** A configuration from before they had kinds. */
export function readFields<S extends ObjectSchema>(schema: S, value: JsonObject, vendor: Vendor): Infer<S> {
  const { value: decoded, unknown } = decode(schema, value)
  if (unknown.length > 0) throw new Error(`unknown field ${JSON.stringify(unknown[0])}`)
  const context = { vendor, subresource: '' }
  fillDefaults(schema, decoded, context)
  const errors = validate(schema, decoded, context)
  if (errors.length > 0) throw new Error(summary(firstFaults(errors)))
  return decoded as Infer<S>
}
