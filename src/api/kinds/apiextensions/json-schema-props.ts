/**
 * The schema in a definition as it is published and as it is in Protobuf: the keywords of OpenAPI v3 that there are,
 * and the vendor's own. Other keywords are unknown fields like any; what is demanded of the rest is read in `custom/`.
 */
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { Vendor } from '../../model/vendor.ts'
import { field, type ObjectSchema, s } from '../../schema/schema.ts'
import { mergedBy } from '../list-keys.ts'

const doc = 'A schema in the form of OpenAPI v3.'

export const jsonSchemaProps = s.any({
  name: 'JSONSchemaProps',
  doc,
  described: memoizeByObject(schemaFor),
  pruned: true,
})

const json = s.any({ name: 'JSON', doc: 'Any value.', untyped: true })
const schemaAt = (tag: number) => ({ tag, schema: jsonSchemaProps })
const orArray = s.any({
  name: 'JSONSchemaPropsOrArray',
  doc: 'A schema, or a list of schemas.',
  untyped: true,
  pruned: true,
  alternatives: { object: schemaAt(1), list: { tag: 2, items: jsonSchemaProps } },
})
const orBool = s.any({
  name: 'JSONSchemaPropsOrBool',
  doc: 'A schema, or whether anything goes.',
  untyped: true,
  pruned: true,
  alternatives: { boolean: 1, object: schemaAt(2) },
})
const orStrings = s.any({
  name: 'JSONSchemaPropsOrStringArray',
  doc: 'A schema, or the names of properties.',
  untyped: true,
  pruned: true,
  alternatives: { object: schemaAt(1), list: { tag: 2, items: s.string() } },
})

const externalDocumentation = s.object(
  {
    description: field(1, s.string(), { doc: 'What is found there.' }),
    url: field(2, s.string(), { doc: 'Where it is.' }),
  },
  { name: 'ExternalDocumentation', doc: 'Where to read more.' },
)

const ruleFields = s.object(
  {
    rule: field(1, s.string(), { zero: 'write', doc: 'The rule, in CEL.' }),
    message: field(2, s.string(), { doc: 'The message for values that break the rule.' }),
  },
  { name: 'ValidationRule', doc: 'A rule in CEL that values must comply with.' },
)

/** Kept with whatever later versions of the language add to it. */
const validationRule = s.any({ name: ruleFields.name!, doc: ruleFields.doc!, described: () => ruleFields })

const numbers = {
  maximum: field(9, s.number(), { zero: 'keep', doc: 'The largest number.' }),
  exclusiveMaximum: field(10, s.boolean(), { doc: 'The largest number itself is too large.' }),
  minimum: field(11, s.number(), { zero: 'keep', doc: 'The smallest number.' }),
  exclusiveMinimum: field(12, s.boolean(), { doc: 'The smallest number itself is too small.' }),
  multipleOf: field(19, s.number(), { zero: 'keep', doc: 'Numbers are multiples of it.' }),
}

const counts = {
  maxLength: field(13, s.int64(), { zero: 'keep', doc: 'The most characters.' }),
  minLength: field(14, s.int64(), { zero: 'keep', doc: 'The fewest characters.' }),
  maxItems: field(16, s.int64(), { zero: 'keep', doc: 'The most elements.' }),
  minItems: field(17, s.int64(), { zero: 'keep', doc: 'The fewest elements.' }),
  maxProperties: field(21, s.int64(), { zero: 'keep', doc: 'The most members.' }),
  minProperties: field(22, s.int64(), { zero: 'keep', doc: 'The fewest members.' }),
}

const plain = {
  id: field(1, s.string(), { doc: 'Its name in a document.' }),
  $schema: field(2, s.string(), { doc: 'The language it is written in.' }),
  $ref: field(3, s.string(), { zero: 'keep', doc: 'Not supported: a schema says everything itself.' }),
  description: field(4, s.string(), { doc: 'What the value is for.' }),
  type: field(5, s.string(), { doc: 'object, array, string, integer, number or boolean.' }),
  format: field(6, s.string(), { doc: 'The form of a text or number.' }),
  title: field(7, s.string(), { doc: 'What the value is called.' }),
  default: field(8, json, { zero: 'keep', doc: 'The value where none is sent.' }),
  pattern: field(15, s.string(), { doc: 'What texts match, as a regular expression.' }),
  uniqueItems: field(18, s.boolean(), { doc: 'Not supported: use a list of type set.' }),
  enum: field(20, s.list(json), { doc: 'The values there are.' }),
  required: field(23, s.list(s.string()), { doc: 'The members that must be there.' }),
  items: field(24, orArray, { zero: 'keep', doc: 'The schema of the elements.' }),
  additionalProperties: field(30, orBool, { zero: 'keep', doc: 'The schema of members under any name.' }),
  dependencies: field(32, s.map(orStrings), { doc: 'Not supported.' }),
  additionalItems: field(33, orBool, { zero: 'keep', doc: 'Not supported.' }),
  externalDocs: field(35, externalDocumentation, { doc: 'Where to read more.' }),
  example: field(36, json, { zero: 'keep', doc: 'A value as an example.' }),
  nullable: field(37, s.boolean(), { doc: 'Null is a value like any other.' }),
}

const nested = {
  allOf: field(25, s.list(jsonSchemaProps), { doc: 'Demands that must all hold.' }),
  oneOf: field(26, s.list(jsonSchemaProps), { doc: 'Demands of which exactly one must hold.' }),
  anyOf: field(27, s.list(jsonSchemaProps), { doc: 'Demands of which one must hold.' }),
  not: field(28, jsonSchemaProps, { zero: 'keep', doc: 'A demand that must not hold.' }),
  properties: field(29, s.map(jsonSchemaProps), { doc: 'The schemas of the members, by name.' }),
  patternProperties: field(31, s.map(jsonSchemaProps), { doc: 'Not supported.' }),
  definitions: field(34, s.map(jsonSchemaProps), { doc: 'Not supported.' }),
}

/** One for each vendor, so that what is derived from it can be cached. */
function schemaFor({ extensionPrefix }: Vendor): ObjectSchema {
  const extensions = {
    'preserve-unknown-fields': field(38, s.boolean(), {
      zero: 'keep',
      doc: 'Members that are not described are kept.',
    }),
    'embedded-resource': field(39, s.boolean(), { doc: 'The value is a whole object with a type and metadata.' }),
    'int-or-string': field(40, s.boolean(), { doc: 'The value is a whole number or a text.' }),
    'list-map-keys': field(41, s.list(s.string()), { doc: 'The members that identify an element.' }),
    'list-type': field(42, s.string(), { zero: 'keep', doc: 'How lists are merged: atomic, set or map.' }),
    'map-type': field(43, s.string(), { zero: 'keep', doc: 'How objects are merged: granular or atomic.' }),
    validations: field(44, s.list(validationRule, mergedBy('rule')), {
      doc: 'Rules in CEL that the value must comply with.',
    }),
  }
  const prefixed = Object.entries(extensions).map(([name, keyword]) => [`${extensionPrefix}${name}`, keyword] as const)
  const own = Object.entries({ ...plain, ...numbers, ...counts, ...nested })
  // Members are written in the order of the fields, which here is that of their numbers.
  const fields = [...own, ...prefixed].sort(([, a], [, b]) => a.tag - b.tag)
  return s.object(Object.fromEntries(fields), { name: 'JSONSchemaProps', doc })
}
