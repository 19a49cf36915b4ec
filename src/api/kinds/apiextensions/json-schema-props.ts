/**
 * JSONSchemaProps is the schema of a custom resource, as published in OpenAPI and encoded in Protobuf. Its fields are
 * the supported OpenAPI v3 keywords and the extensions of the vendor. Other keywords are treated like any unknown
 * field. `apiserver/custom/schema/` validates the values of the keywords.
 */
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Vendor } from '../../model/vendor.ts'
import { field, type ObjectSchema, s } from '../../schema/schema.ts'
import { mergedBy } from '../list-keys.ts'

const doc = 'A schema that uses OpenAPI v3 keywords.'

export const jsonSchemaProps = s.any({
  name: 'JSONSchemaProps',
  doc,
  described: memoizeByObject(schemaFor),
  versioned: true,
  pruned: true,
})

const json = s.any({ name: 'JSON', doc: 'Any JSON value.', untyped: true })
const schemaAt = (tag: number) => ({ tag, schema: jsonSchemaProps })
const orArray = s.any({
  name: 'JSONSchemaPropsOrArray',
  doc: 'A schema, or a list of schemas.',
  untyped: true,
  versioned: true,
  pruned: true,
  alternatives: { object: schemaAt(1), list: { tag: 2, items: jsonSchemaProps } },
})
const orBool = s.any({
  name: 'JSONSchemaPropsOrBool',
  doc: 'A schema, or a boolean that allows or forbids any value.',
  untyped: true,
  versioned: true,
  pruned: true,
  alternatives: { boolean: 1, object: schemaAt(2) },
})
const orStrings = s.any({
  name: 'JSONSchemaPropsOrStringArray',
  doc: 'A schema, or a list of property names.',
  untyped: true,
  versioned: true,
  pruned: true,
  alternatives: { object: schemaAt(1), list: { tag: 2, items: s.string() } },
})

const externalDocumentation = s.object(
  {
    description: field(1, s.string(), { doc: 'Description of the external documentation.' }),
    url: field(2, s.string(), { doc: 'URL of the external documentation.' }),
  },
  { name: 'ExternalDocumentation', doc: 'Reference to external documentation.' },
)

const ruleFields = s.object(
  {
    rule: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'CEL expression that must evaluate to true for the value to be valid.',
    }),
    message: field(2, s.string(), { doc: 'Error message to return if a value violates the rule.' }),
    messageExpression: field(3, s.string(), {
      since: '1.27',
      doc: 'CEL expression that returns the error message. Takes precedence over `message`.',
    }),
    reason: field(4, s.string(), {
      zeroValue: 'keep',
      since: '1.28',
      doc: 'Machine-readable reason for the error, such as FieldValueInvalid (the default) or FieldValueForbidden.',
    }),
    fieldPath: field(5, s.string(), {
      since: '1.28',
      doc: 'Path of the field to report in the error, relative to the validated value. For example, `.spec.color`.',
    }),
    optionalOldSelf: field(6, s.boolean(), {
      zeroValue: 'keep',
      since: '1.29',
      gate: 'CRDValidationRatcheting',
      doc: 'Whether a transition rule also runs when there is no old value. If so, `oldSelf` is a CEL optional.',
    }),
  },
  { name: 'ValidationRule', doc: 'A validation rule written in CEL.' },
)

/**
 * Kubernetes versions without support for rules preserve unknown fields, so that rules with fields from later versions
 * are stored unchanged.
 */
const validationRule = s.any({
  name: ruleFields.name!,
  doc: ruleFields.doc!,
  described: () => ruleFields,
  versioned: true,
  prunedSince: '1.25',
})

const numbers = {
  maximum: field(9, s.number(), { zeroValue: 'keep', doc: 'Maximum value of a number.' }),
  exclusiveMaximum: field(10, s.boolean(), {
    doc: 'Whether `maximum` is exclusive, so that the value must be less than `maximum`.',
  }),
  minimum: field(11, s.number(), { zeroValue: 'keep', doc: 'Minimum value of a number.' }),
  exclusiveMinimum: field(12, s.boolean(), {
    doc: 'Whether `minimum` is exclusive, so that the value must be greater than `minimum`.',
  }),
  multipleOf: field(19, s.number(), { zeroValue: 'keep', doc: 'The value must be a multiple of this number.' }),
}

const counts = {
  maxLength: field(13, s.int64(), { zeroValue: 'keep', doc: 'Maximum number of characters in a string.' }),
  minLength: field(14, s.int64(), { zeroValue: 'keep', doc: 'Minimum number of characters in a string.' }),
  maxItems: field(16, s.int64(), { zeroValue: 'keep', doc: 'Maximum number of items in an array.' }),
  minItems: field(17, s.int64(), { zeroValue: 'keep', doc: 'Minimum number of items in an array.' }),
  maxProperties: field(21, s.int64(), { zeroValue: 'keep', doc: 'Maximum number of properties in an object.' }),
  minProperties: field(22, s.int64(), { zeroValue: 'keep', doc: 'Minimum number of properties in an object.' }),
}

const plain = {
  id: field(1, s.string(), { doc: 'Identifier of the schema. Not supported in new schemas.' }),
  $schema: field(2, s.string(), { doc: 'URI of the schema dialect.' }),
  $ref: field(3, s.string(), { zeroValue: 'keep', doc: 'Reference to another schema. Not supported.' }),
  description: field(4, s.string(), { doc: 'Description of the value.' }),
  type: field(5, s.string(), { doc: 'Type of the value: object, array, string, integer, number or boolean.' }),
  format: field(6, s.string(), {
    doc: 'Format of a string or number, such as `date-time` or `int64`. Unknown formats are ignored.',
  }),
  title: field(7, s.string(), { doc: 'Title of the value.' }),
  default: field(8, json, { zeroValue: 'keep', doc: 'Default value to use if the value is not set.' }),
  pattern: field(15, s.string(), { doc: 'Regular expression that a string must match.' }),
  uniqueItems: field(18, s.boolean(), {
    doc: 'Whether the items of an array must be unique. The value true is not supported. Use the list type `set` instead.',
  }),
  enum: field(20, s.list(json), { doc: 'Allowed values.' }),
  required: field(23, s.list(s.string()), { doc: 'Names of the properties that an object must have.' }),
  items: field(24, orArray, { zeroValue: 'keep', doc: 'Schema that all items of an array must match.' }),
  additionalProperties: field(30, orBool, {
    zeroValue: 'keep',
    doc: 'Schema for properties that are not listed in `properties`.',
  }),
  dependencies: field(32, s.map(orStrings), {
    doc: 'Properties whose presence requires other properties to be present. Not supported.',
  }),
  additionalItems: field(33, orBool, { zeroValue: 'keep', doc: 'Schema for additional array items. Not supported.' }),
  externalDocs: field(35, externalDocumentation, { doc: 'External documentation for the value.' }),
  example: field(36, json, { zeroValue: 'keep', doc: 'Example of a value.' }),
  nullable: field(37, s.boolean(), { doc: 'Whether the value may be null.' }),
}

const nested = {
  allOf: field(25, s.list(jsonSchemaProps), { doc: 'Schemas, all of which the value must match.' }),
  oneOf: field(26, s.list(jsonSchemaProps), { doc: 'Alternative schemas, exactly one of which the value must match.' }),
  anyOf: field(27, s.list(jsonSchemaProps), {
    doc: 'Alternative schemas, at least one of which the value must match.',
  }),
  not: field(28, jsonSchemaProps, { zeroValue: 'keep', doc: 'Schema that the value must not match.' }),
  properties: field(29, s.map(jsonSchemaProps), { doc: "Schemas of the object's properties, keyed by property name." }),
  patternProperties: field(31, s.map(jsonSchemaProps), {
    doc: "Schemas of the object's properties, keyed by a regular expression for the property name. Not supported.",
  }),
  definitions: field(34, s.map(jsonSchemaProps), { doc: 'Schemas that references can use. Not supported.' }),
}

/**
 * Returns the fields of a schema. The caller must memoize the result per vendor, because other caches use the result as
 * a key.
 */
function schemaFor({ extensionPrefix }: Vendor): ObjectSchema {
  const extensions = {
    'preserve-unknown-fields': field(38, s.boolean(), {
      zeroValue: 'keep',
      doc: 'Whether to keep fields that the schema does not specify. By default, such fields are pruned.',
    }),
    'embedded-resource': field(39, s.boolean(), {
      doc: 'Whether the value is a complete API object with `apiVersion`, `kind` and `metadata`.',
    }),
    'int-or-string': field(40, s.boolean(), { doc: 'Whether the value can be either an integer or a string.' }),
    'list-map-keys': field(41, s.list(s.string()), {
      doc: 'Names of the properties that together identify an item in a list of type `map`.',
    }),
    'list-type': field(42, s.string(), {
      zeroValue: 'keep',
      doc: 'How server-side apply merges a list: `atomic`, `set` or `map`. Defaults to `atomic`.',
    }),
    'map-type': field(43, s.string(), {
      zeroValue: 'keep',
      doc: 'How server-side apply merges an object: `granular` or `atomic`. Defaults to `granular`.',
    }),
    validations: field(44, s.list(validationRule, mergedBy('rule')), {
      doc: 'CEL rules that the value must satisfy.',
    }),
  }
  const prefixed = Object.entries(extensions).map(([name, keyword]) => [`${extensionPrefix}${name}`, keyword] as const)
  const own = Object.entries({ ...plain, ...numbers, ...counts, ...nested })
  // Sort by Protobuf tag, because fields are encoded in this order.
  const fields = [...own, ...prefixed].sort(([, a], [, b]) => a.tag - b.tag)
  return s.object(Object.fromEntries(fields), { name: 'JSONSchemaProps', doc })
}
