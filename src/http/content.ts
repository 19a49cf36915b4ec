/** From a request's body to a JSON value, by its content type. */
import { shorten } from '../base/shorten.ts'
import { largeDocument } from '../codec/aside.ts'
import { type ParsedJson, parseSteps } from '../codec/json.ts'
import { ApiError, unsupportedMediaType } from '../model/api-error.ts'
import { maxBodyBytes, readBody } from './body.ts'
import type { Exchange } from './exchange.ts'

/** The forms of objects in a request's body. */
export const accepted = ['application/json', 'application/yaml']

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

/** The body of a write: JSON or YAML. */
export async function readContent(exchange: Exchange): Promise<ParsedJson> {
  assertReadable(exchange)
  const bytes = await readBody(exchange)
  exchange.pace.begin()
  return await parseContent(exchange, bytes)
}

/**
 * The body where one may be left out; undefined when it is empty. The content type of an empty body does not matter.
 */
export async function readOptionalContent(exchange: Exchange): Promise<ParsedJson | undefined> {
  const bytes = await readBody(exchange)
  if (bytes.length === 0) return undefined
  assertReadable(exchange)
  exchange.pace.begin()
  return await parseContent(exchange, bytes)
}

/** Throws 415 unless the body is said to be in one of the forms that can be read. */
export function assertReadable(exchange: Exchange): void {
  const type = mediaType(exchange).toLowerCase() || 'application/json'
  if (!accepted.includes(type))
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    )
}

function parseContent(exchange: Exchange, bytes: Buffer): Promise<ParsedJson> {
  return mediaType(exchange).toLowerCase() === 'application/yaml'
    ? readYaml(exchange, bytes)
    : exchange.pace.run(parseSteps(bytes))
}

/** YAML. Much of it is JSON, and is then parsed as JSON. The YAML parser is loaded on first use. */
export async function readYaml({ aside, pace }: Exchange, bytes: Buffer): Promise<ParsedJson> {
  if (bytes[0] === 0x7b /* { */) {
    try {
      return await pace.run(parseSteps(bytes))
    } catch (error) {
      // A map in the flow style of YAML begins like an object of JSON.
      if (!(error instanceof ApiError && error.cause instanceof SyntaxError)) throw error
    }
  }
  if (aside !== undefined && bytes.length > largeDocument) return await aside.readYaml(bytes, maxBodyBytes)
  const { parseYaml } = await import('../codec/yaml.ts')
  return parseYaml(bytes, maxBodyBytes)
}
