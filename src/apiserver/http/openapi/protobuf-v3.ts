/** Encodes the OpenAPI v3 documents as Protobuf: the message `Document` of the package `openapi.v3`. */
import type { Json, JsonObject } from '../../../api/json/json.ts'
import { WireWriter } from '../../../wire/protobuf/protobuf-wire.ts'
import {
  flag,
  message,
  messages,
  named,
  real,
  record,
  text,
  texts,
  type Write,
  whole,
  writeAny,
} from './protobuf-parts.ts'

/**
 * Encodes a part of a document. Encoded parts can be concatenated, because a Protobuf reader merges repeated fields of
 * a message.
 */
export function encodeV3(document: JsonObject): Buffer {
  const writer = new WireWriter()
  writeDocument(writer, document)
  return writer.finish()
}

/** Writes a default value, which must be a number, boolean or string. The message has no field for any other value. */
function writeDefault(writer: WireWriter, value: Json): void {
  writer.message(33, (inner) => {
    if (typeof value === 'number' || typeof value === 'bigint') inner.double(1, Number(value))
    else if (typeof value === 'boolean') inner.bool(2, value)
    else if (typeof value === 'string') inner.string(3, value)
  })
}

const writeSchemaFields = record(
  {
    nullable: flag(1),
    title: text(9),
    multipleOf: real(10),
    maximum: real(11),
    exclusiveMaximum: flag(12),
    minimum: real(13),
    exclusiveMinimum: flag(14),
    maxLength: whole(15),
    minLength: whole(16),
    pattern: text(17),
    maxItems: whole(18),
    minItems: whole(19),
    uniqueItems: flag(20),
    maxProperties: whole(21),
    minProperties: whole(22),
    required: texts(23),
    enum: messages(24, writeAny),
    type: text(25),
    allOf: messages(26, writeSchemaOrReference),
    oneOf: messages(27, writeSchemaOrReference),
    anyOf: messages(28, writeSchemaOrReference),
    not: message(29, writeSchema),
    items: message(30, message(1, writeSchemaOrReference)),
    properties: message(31, named(1, writeSchemaOrReference)),
    additionalProperties: message(32, writeSchemaOrFlag),
    default: writeDefault,
    description: text(34),
    format: text(35),
    example: message(7, writeAny),
    externalDocs: message(6, record({ description: text(1), url: text(2) }, 3)),
  },
  36,
)

/** Writes a JSON schema. This is a function declaration because schemas are recursive. */
function writeSchema(writer: WireWriter, value: Json): void {
  writeSchemaFields(writer, value)
}

function writeSchemaOrReference(writer: WireWriter, value: Json): void {
  const { $ref } = value as JsonObject
  if (typeof $ref === 'string') writer.message(2, (inner) => inner.string(1, $ref))
  else writer.message(1, (inner) => writeSchema(inner, value))
}

function writeSchemaOrFlag(writer: WireWriter, value: Json): void {
  if (typeof value === 'boolean') writer.bool(2, value)
  else writer.message(1, (inner) => writeSchemaOrReference(inner, value))
}

const writeContent: Write = named(1, record({ schema: message(1, writeSchemaOrReference) }, 5))

const writeParameter = message(
  1,
  record(
    {
      name: text(1),
      in: text(2),
      description: text(3),
      required: flag(4),
      schema: message(10, writeSchemaOrReference),
    },
    14,
  ),
)

const writeResponse = record({ description: text(1), content: message(3, writeContent) }, 5)

const writeRequestBody = record({ description: text(1), content: message(2, writeContent), required: flag(3) }, 4)

const writeOperation = record(
  {
    tags: texts(1),
    description: text(3),
    operationId: text(5),
    parameters: messages(6, writeParameter),
    requestBody: message(7, message(1, writeRequestBody)),
    responses: message(8, named(2, message(1, writeResponse))),
  },
  13,
)

const writePathItem = record(
  {
    get: message(4, writeOperation),
    put: message(5, writeOperation),
    post: message(6, writeOperation),
    delete: message(7, writeOperation),
    patch: message(10, writeOperation),
    parameters: messages(13, writeParameter),
  },
  14,
)

const writeSecurityScheme = record({ type: text(1), description: text(2), name: text(3), in: text(4) }, 9)

const writeComponents = record(
  {
    schemas: message(1, named(1, writeSchemaOrReference)),
    securitySchemes: message(7, named(1, message(1, writeSecurityScheme))),
  },
  10,
)

const writeDocument = record(
  {
    openapi: text(1),
    info: message(2, record({ title: text(1), version: text(6) }, 7)),
    paths: message(4, named(1, writePathItem)),
    components: message(5, writeComponents),
    security: messages(6, named(1, message(1, texts(1)))),
  },
  9,
)
