/**
 * Encodes the OpenAPI v2 document as Protobuf for kubectl: the message `Document` of the package `openapi.v2`. Each
 * function below writes one message from the corresponding JSON, with the public field numbers. Free-form JSON, such as
 * defaults and extensions, is written as text. A key that is missing from the tables is a bug and throws an error, so
 * that no data is lost silently.
 */

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
export function encodeV2(document: JsonObject): Buffer {
  const writer = new WireWriter()
  writeDocument(writer, document)
  return writer.finish()
}

const writeSchemaFields = record(
  {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: message(5, writeAny),
    multipleOf: real(6),
    maximum: real(7),
    exclusiveMaximum: flag(8),
    minimum: real(9),
    exclusiveMinimum: flag(10),
    maxLength: whole(11),
    minLength: whole(12),
    pattern: text(13),
    maxItems: whole(14),
    minItems: whole(15),
    uniqueItems: flag(16),
    maxProperties: whole(17),
    minProperties: whole(18),
    required: texts(19),
    enum: messages(20, writeAny),
    additionalProperties: message(21, writeSchemaOrFlag),
    type: message(22, text(1)),
    items: message(23, message(1, writeSchema)),
    properties: message(25, named(1, writeSchema)),
  },
  31,
)

/** Writes a JSON schema. This is a function declaration because schemas are recursive. */
function writeSchema(writer: WireWriter, value: Json): void {
  writeSchemaFields(writer, value)
}

function writeSchemaOrFlag(writer: WireWriter, value: Json): void {
  if (typeof value === 'boolean') writer.bool(2, value)
  else writer.message(1, (inner) => writeSchema(inner, value))
}

const writeBodyParameter = record(
  { description: text(1), name: text(2), in: text(3), required: flag(4), schema: message(5, writeSchema) },
  6,
)
const writeQueryParameter = record(
  { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(6), format: text(7) },
  23,
)
const writePathParameter = record(
  { required: flag(1), in: text(2), description: text(3), name: text(4), type: text(5), format: text(6) },
  22,
)

/**
 * Functions that write a parameter, by the value of its `in` member. Each location has its own nested wrapper messages.
 */
const parameterForms: { readonly [place: string]: Write } = {
  body: message(1, message(1, writeBodyParameter)),
  query: message(1, message(2, message(3, writeQueryParameter))),
  path: message(1, message(2, message(4, writePathParameter))),
}

function writeParameter(writer: WireWriter, value: Json): void {
  parameterForms[String((value as JsonObject).in)]!(writer, value)
}

const writeResponse = record({ description: text(1), schema: message(2, message(1, writeSchema)) }, 5)

const writeOperation = record(
  {
    tags: texts(1),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: messages(8, writeParameter),
    responses: message(9, named(1, message(1, writeResponse))),
    schemes: texts(10),
  },
  13,
)

const writePathItem = record(
  {
    get: message(2, writeOperation),
    put: message(3, writeOperation),
    post: message(4, writeOperation),
    delete: message(5, writeOperation),
    patch: message(8, writeOperation),
    parameters: messages(9, writeParameter),
  },
  10,
)

const writeApiKey = record({ type: text(1), name: text(2), in: text(3), description: text(4) }, 5)

const writeDocument = record(
  {
    swagger: text(1),
    info: message(2, record({ title: text(1), version: text(2) }, 7)),
    paths: message(8, named(2, writePathItem)),
    definitions: message(9, named(1, writeSchema)),
    security: messages(12, named(1, texts(1))),
    securityDefinitions: message(13, named(1, message(2, writeApiKey))),
  },
  16,
)
