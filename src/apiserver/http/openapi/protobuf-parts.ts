/**
 * Writes the parts of OpenAPI documents as Protobuf messages. Each function writes one message from the corresponding
 * JSON, with the public field numbers. A key that is missing from a table is a bug and throws an error, so that no data
 * is lost silently.
 */
import { stringifyJson } from '../../../api/codec/json.ts'
import type { Json, JsonObject } from '../../../api/json/json.ts'
import type { WireWriter } from '../../../wire/protobuf/protobuf-wire.ts'

/** Writes a JSON value as a field of the message that `writer` is writing. */
export type Write = (writer: WireWriter, value: Json) => void

export const text =
  (field: number): Write =>
  (writer, value) =>
    writer.string(field, String(value))
export const flag =
  (field: number): Write =>
  (writer, value) =>
    writer.bool(field, value === true)
export const real =
  (field: number): Write =>
  (writer, value) =>
    writer.double(field, Number(value))
export const whole =
  (field: number): Write =>
  (writer, value) =>
    writer.integer(field, value as number | bigint)
export const texts =
  (field: number): Write =>
  (writer, value) => {
    for (const item of value as string[]) writer.string(field, item)
  }
export const message =
  (field: number, write: Write): Write =>
  (writer, value) =>
    writer.message(field, (inner) => write(inner, value))
export const messages =
  (field: number, write: Write): Write =>
  (writer, value) => {
    for (const item of value as Json[]) writer.message(field, (inner) => write(inner, item))
  }
/** Returns a function that writes a JSON object as a repeated field of name-value messages. */
export const named =
  (field: number, write: Write): Write =>
  (writer, value) => {
    for (const [name, item] of Object.entries(value as JsonObject))
      writer.message(field, (pair) => {
        pair.string(1, name)
        pair.message(2, (inner) => write(inner, item!))
      })
  }
/** Writes a message according to its table of keys. `extension` is the field number for vendor extensions. */
export const record =
  (table: { readonly [key: string]: Write }, extension: number): Write =>
  (writer, value) => {
    for (const [key, item] of Object.entries(value as JsonObject)) {
      if (Object.hasOwn(table, key)) table[key]!(writer, item!)
      else if (key.startsWith('x-')) named(extension, writeAny)(writer, { [key]: item })
      else throw new Error(`no Protobuf field is known for ${key}`)
    }
  }

/** Writes any JSON as text, which is also valid YAML. */
export function writeAny(writer: WireWriter, value: Json): void {
  writer.string(2, stringifyJson(value))
}
