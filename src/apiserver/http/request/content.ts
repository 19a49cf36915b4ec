/** From a request's body to a JSON value, by its content type: JSON, YAML, or Protobuf where there is such a form. */

import { largeDocument } from '../../../api/codec/document-worker.ts'
import { type ParsedJson, parseSteps } from '../../../api/codec/json.ts'
import { type DocumentType, open } from '../../../api/codec/protobuf/envelope.ts'
import { readSteps } from '../../../api/codec/protobuf/read.ts'
import { ApiError, badRequest, unsupportedMediaType } from '../../../api/model/api-error.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { WireError } from '../../../wire/protobuf/protobuf-wire.ts'
import { type Offering, offered } from '../response/negotiate.ts'
import { maxBodyBytes, readBody } from './body.ts'
import type { Exchange } from './exchange.ts'

/** What a body is read as. */
export interface BodyType extends Offering {
  /** The type of a message whose envelope says this; throws where it is not what is wanted. */
  readonly schemaOf: (sent: DocumentType) => ObjectSchema
}

/** The media type of the body without parameters, as it was sent; '' when none is named. */
export function mediaType(exchange: Exchange): string {
  const header = exchange.headers.one('content-type') ?? ''
  if (!header.includes(';')) return header.trim()
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim())
  if (parameters.some((part) => !/^[^\s=]+=.+$/.test(part))) return 'malformed'
  for (const part of parameters) refuseCharset(part)
  return type
}

/** Text is UTF-8, whatever a client would like it to be; ASCII is part of it. */
function refuseCharset(parameter: string): void {
  const charset = /^charset="?([^"]*)"?$/i.exec(parameter)?.[1]?.toLowerCase()
  if (charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset)) return
  throw unsupportedMediaType(`charset ${JSON.stringify(shorten(charset, 50))} is not accepted: send UTF-8`)
}

/** The body of a write. */
export async function readContent(exchange: Exchange, type: BodyType): Promise<ParsedJson> {
  assertReadable(exchange, type)
  const bytes = await readBody(exchange)
  exchange.pace.begin()
  return noted(exchange, await parseContent(exchange, type, bytes), bytes)
}

/** Lets the audit see what was sent. */
export function noted(exchange: Exchange, parsed: ParsedJson, { length }: Buffer): ParsedJson {
  exchange.audit?.hasSent(parsed.value, length)
  return parsed
}

/**
 * The body where one may be left out; undefined when it is empty. The content type of an empty body does not matter.
 */
export async function readOptionalContent(exchange: Exchange, type: BodyType): Promise<ParsedJson | undefined> {
  const bytes = await readBody(exchange)
  if (bytes.length === 0) return undefined
  assertReadable(exchange, type)
  exchange.pace.begin()
  return noted(exchange, await parseContent(exchange, type, bytes), bytes)
}

/** Throws 415 unless the body is said to be in one of the forms that can be read. */
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
  if (sent === type.vendor.protobufMediaType) return exchange.pace.run(readProtobuf(type, bytes))
  return exchange.pace.run(parseSteps(bytes))
}

/** In Protobuf nothing is unknown or said twice: what is not known is passed over, and the last of a field counts. */
function* readProtobuf({ schemaOf, vendor }: BodyType, bytes: Buffer): Generator<void, ParsedJson> {
  try {
    const { apiVersion, kind, message } = open(bytes)
    const value = yield* readSteps(schemaOf({ apiVersion, kind }), message, vendor)
    return { value: Object.assign(value, { apiVersion, kind }), duplicates: [] }
  } catch (error) {
    if (!(error instanceof WireError)) throw error
    throw badRequest(`the body is not valid Protobuf: ${shorten(error.message, 500)}`, { cause: error })
  }
}

/** YAML. Much of it is JSON, and is then parsed as JSON. The YAML parser is loaded on first use. */
export async function readYaml({ documentWorker, pace }: Exchange, bytes: Buffer): Promise<ParsedJson> {
  if (bytes[0] === 0x7b /* { */) {
    try {
      return await pace.run(parseSteps(bytes))
    } catch (error) {
      // A map in the flow style of YAML begins like an object of JSON.
      if (!(error instanceof ApiError && error.cause instanceof SyntaxError)) throw error
    }
  }
  if (documentWorker !== undefined && bytes.length > largeDocument)
    return await documentWorker.readYaml(bytes, maxBodyBytes)
  const { parseYaml } = await import('../../../api/codec/yaml.ts')
  return parseYaml(bytes, maxBodyBytes)
}
