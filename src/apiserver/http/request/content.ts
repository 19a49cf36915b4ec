/**
 * Parses a request body into a JSON value according to its content type: JSON, YAML, or Protobuf if the type supports
 * it.
 */

import { largeDocument } from '../../../api/codec/document-worker.ts'
import { type ParsedJson, parseSliced } from '../../../api/codec/json.ts'
import { type DocumentType, open } from '../../../api/codec/protobuf/envelope.ts'
import { readSliced } from '../../../api/codec/protobuf/read.ts'
import { ApiError, badRequest, unsupportedMediaType } from '../../../api/model/api-error.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { WireError } from '../../../wire/protobuf/protobuf-wire.ts'
import { type Offering, offered } from '../response/negotiate.ts'
import { maxBodyBytes, readBody } from './body.ts'
import type { Exchange } from './exchange.ts'

/** The formats in which clients may send a request body, and the schema for decoding it if it is Protobuf. */
export interface BodyType extends Offering {
  /**
   * Returns the schema for the type that the envelope of a Protobuf body names. Throws an error if this type is not
   * accepted.
   */
  readonly schemaOf: (sent: DocumentType) => ObjectSchema
  /** Whether objects under a duplicate JSON key are merged, as in Kubernetes for built-in kinds. */
  readonly mergesObjects: boolean
}

/** Returns the body's media type as sent, without parameters, or '' if the client sent none. */
export function mediaType(exchange: Exchange): string {
  const header = exchange.headers.one('content-type') ?? ''
  if (!header.includes(';')) return header.trim()
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim())
  if (parameters.some((part) => !/^[^\s=]+=.+$/.test(part))) return 'malformed'
  for (const part of parameters) refuseCharset(part)
  return type
}

/** Throws an error unless the charset is UTF-8 or its subset ASCII. */
function refuseCharset(parameter: string): void {
  const charset = /^charset="?([^"]*)"?$/i.exec(parameter)?.[1]?.toLowerCase()
  if (charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset)) return
  throw unsupportedMediaType(`charset ${JSON.stringify(shorten(charset, 50))} is not accepted: send UTF-8`)
}

/** Reads and parses the body of a write. */
export async function readContent(exchange: Exchange, type: BodyType): Promise<ParsedJson> {
  assertReadable(exchange, type)
  const bytes = await readBody(exchange)
  exchange.timeSlice.begin()
  return recordForAudit(exchange, await parseContent(exchange, type, bytes), bytes)
}

/** Passes the parsed body to the audit record, and returns the body. */
export function recordForAudit(exchange: Exchange, parsed: ParsedJson, { length }: Buffer): ParsedJson {
  exchange.audit?.hasSent(parsed.value, length)
  return parsed
}

/** Reads an optional body. Returns undefined if the body is empty, regardless of its content type. */
export async function readOptionalContent(exchange: Exchange, type: BodyType): Promise<ParsedJson | undefined> {
  const bytes = await readBody(exchange)
  if (bytes.length === 0) return undefined
  assertReadable(exchange, type)
  exchange.timeSlice.begin()
  return recordForAudit(exchange, await parseContent(exchange, type, bytes), bytes)
}

/** Throws 415 unless the server supports the content type. */
export function assertReadable(exchange: Exchange, offering: Offering): void {
  const type = mediaType(exchange).toLowerCase()
  if (type === '' || type === 'application/json') return
  const accepted = offered(offering)
  if (!accepted.includes(type))
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    )
}

function parseContent(exchange: Exchange, type: BodyType, bytes: Buffer): Promise<ParsedJson> {
  const sent = mediaType(exchange).toLowerCase()
  if (sent === 'application/yaml') return readYaml(exchange, bytes)
  if (sent === type.vendor.protobufMediaType) return exchange.timeSlice.run(readProtobuf(type, bytes))
  return exchange.timeSlice.run(parseSliced(bytes, { mergesObjects: type.mergesObjects }))
}

/**
 * Reads a Protobuf body. Unknown and duplicate fields are not reported: unknown fields are skipped, and the last value
 * of a field is used.
 */
function* readProtobuf({ schemaOf, vendor }: BodyType, bytes: Buffer): Generator<void, ParsedJson> {
  try {
    const { apiVersion, kind, message } = open(bytes)
    const value = yield* readSliced(schemaOf({ apiVersion, kind }), message, vendor)
    return { value: Object.assign(value, { apiVersion, kind }), duplicates: [] }
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    throw badRequest(`the body is not valid Protobuf: ${shorten(error.message, 500)}`, { cause: error })
  }
}

/**
 * Reads a YAML body. If the text looks like JSON, the JSON parser is tried first. The YAML parser is loaded on first
 * use.
 */
export async function readYaml({ documentWorker, timeSlice }: Exchange, bytes: Buffer): Promise<ParsedJson> {
  if (bytes[0] === 0x7b /* { */) {
    try {
      return await timeSlice.run(parseSliced(bytes))
    } catch (error) {
      // The text may still be YAML, whose flow mappings also start with a brace.
      if (!(error instanceof ApiError && error.cause instanceof SyntaxError)) throw error
    }
  }
  if (documentWorker !== undefined && bytes.length > largeDocument)
    return await documentWorker.readYaml(bytes, maxBodyBytes)
  const { parseYaml } = await import('../../../api/codec/yaml.ts')
  return parseYaml(bytes, maxBodyBytes)
}
