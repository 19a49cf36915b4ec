/** From a request's body to a JSON value, by its content type. */
import { type ParsedJson, parseJson } from '../codec/json.ts'
import { unsupportedMediaType } from '../model/api-error.ts'
import { readBody } from './body.ts'
import type { Exchange } from './exchange.ts'

/** The forms of objects in a request's body. */
export const accepted = ['application/json', 'application/yaml']

/** The media type of the body without parameters, as it was sent; '' when none is named. */
export function mediaType(exchange: Exchange): string {
  const header = exchange.headers.one('content-type') ?? ''
  if (!header.includes(';')) return header.trim()
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim())
  if (parameters.some((part) => !/^[^\s=]+=.+$/.test(part))) return 'malformed'
  return type
}

/** The body of a write: JSON or YAML. */
export async function readContent(exchange: Exchange): Promise<ParsedJson> {
  assertReadable(exchange)
  return parseContent(exchange, await readBody(exchange))
}

/** The body where one may be left out; undefined when it is empty. What type nothing is of does not matter. */
export async function readOptionalContent(exchange: Exchange): Promise<ParsedJson | undefined> {
  const bytes = await readBody(exchange)
  if (bytes.length === 0) return undefined
  assertReadable(exchange)
  return parseContent(exchange, bytes)
}

/** Throws 415 unless the body is said to be in one of the forms that can be read. */
export function assertReadable(exchange: Exchange): void {
  const type = mediaType(exchange).toLowerCase() || 'application/json'
  if (!accepted.includes(type))
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
    )
}

/** The reader of YAML is loaded when somebody sends some. */
function parseContent(exchange: Exchange, bytes: Buffer): ParsedJson | Promise<ParsedJson> {
  if (mediaType(exchange).toLowerCase() !== 'application/yaml') return parseJson(bytes)
  return import('../codec/yaml.ts').then(({ parseYaml }) => parseYaml(bytes))
}
