/**
 * Implements `-v`, which shows requests and responses. Level 6 shows each request with its duration, 7 adds headers, 8
 * adds truncated bodies, and 9 shows whole bodies and curl commands. Credentials in headers are hidden. Bodies that
 * contain secrets or tokens are hidden completely.
 */
import { STATUS_CODES } from 'node:http'
import type { Transport, TransportRequest, TransportResponse } from '../../../client/requests/transport.ts'
import { escapeLine } from '../printers/escape.ts'

/** Lowest `-v` levels at which headers, bodies, complete bodies and curl commands are shown. */
const headersFrom = 7
const bodiesFrom = 8
const wholeFrom = 9
const curlFrom = 9
/** Maximum number of body bytes that level 8 shows. */
const shownBytes = 1024

export interface TraceOptions {
  readonly server: string
  readonly level: number
  readonly tell: (text: string) => void
}

/** Wraps a transport to print its requests and responses. The output of concurrent requests may be interleaved. */
export function withTrace(send: Transport, { server, level, tell }: TraceOptions): Transport {
  return async (request) => {
    const began = performance.now()
    const url = `${server}${escapeLine(request.path)}`
    const after = (outcome: string) => `${outcome} in ${Math.round(performance.now() - began)} milliseconds\n`
    if (level >= curlFrom) tell(curlText(request, url))
    else if (level >= headersFrom) tell(`${request.method} ${url}\n${headersText('Request Headers', request.headers)}`)
    if (level >= bodiesFrom && request.body !== undefined)
      tell(bodyText({ title: 'Request Body', path: request.path, ...sized(Buffer.from(request.body)) }, level))
    try {
      const response = await send(request)
      tell(`${request.method} ${url} ${after(statusText(response.status))}`)
      if (level >= headersFrom) tell(headersText('Response Headers', response.headers))
      return level < bodiesFrom ? response : { ...response, body: tracedBody(request, response, { level, tell }) }
    } catch (error) {
      tell(`${request.method} ${url} ${after('failed')}`)
      throw error
    }
  }
}

/** Formats a status such as `200 OK`. */
function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
}

/** Returns an equivalent curl command without credentials and body, as kubectl does. */
function curlText({ method, headers }: TransportRequest, url: string): string {
  const shownHeaders = Object.entries(headers).map(
    ([name, value]) => ` -H ${quoted(`${name}: ${shownValue(name, value)}`)}`,
  )
  return `curl -v -X${method}${shownHeaders.join('')} ${quoted(url)}\n`
}

/** Quotes text for use in a shell command. */
function quoted(text: string): string {
  return `'${escapeLine(text).replaceAll("'", "'\\''")}'`
}

const secretHeaders = /^(?:authorization|proxy-authorization|cookie|set-cookie|.*token.*)$/i

function headersText(title: string, headers: { readonly [name: string]: string }): string {
  const lines = Object.entries(headers).map(([name, value]) => `    ${escapeLine(name)}: ${shownValue(name, value)}\n`)
  return `${title}:\n${lines.join('')}`
}

function shownValue(header: string, value: string): string {
  return secretHeaders.test(header) ? '<hidden>' : escapeLine(value)
}

/** Matches the paths of requests whose bodies or responses may contain secrets and must therefore not be shown. */
const secretPath =
  /\/(?:secrets|tokenreviews|certificatesigningrequests)(?:[/?]|$)|\/serviceaccounts\/[^/]+\/token(?:[/?]|$)/
/** Matches requests with endless responses: watches and followed logs. */
const endless = /[?&](?:watch|follow)=(?:true|1)(?:&|$)/

/** Passes the response body on as it arrives, and shows the body once it is complete. */
async function* tracedBody(
  request: TransportRequest,
  { body }: TransportResponse,
  { level, tell }: Pick<TraceOptions, 'level' | 'tell'>,
): AsyncGenerator<Uint8Array> {
  const bodyChunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (!endless.test(request.path) && (level >= wholeFrom || size - chunk.length < shownBytes)) bodyChunks.push(chunk)
    yield chunk
  }
  if (endless.test(request.path)) tell(`Response Body: a stream of ${size} bytes\n`)
  else tell(bodyText({ title: 'Response Body', path: request.path, bytes: Buffer.concat(bodyChunks), size }, level))
}

function sized(bytes: Buffer): { bytes: Buffer; size: number } {
  return { bytes, size: bytes.length }
}

interface Body {
  readonly title: string
  /** Path of the request, to decide whether its body contains secrets. */
  readonly path: string
  /** The beginning of the body, up to the size that is shown. */
  readonly bytes: Buffer
  readonly size: number
}

function bodyText({ title, path, bytes, size }: Body, level: number): string {
  if (secretPath.test(path)) return `${title}: <hidden: ${size} bytes that may contain secrets>\n`
  const part = level >= wholeFrom ? bytes : bytes.subarray(0, shownBytes)
  const cut = size > part.length ? ` [truncated ${size - part.length} bytes]` : ''
  return `${title}: ${escapeLine(part.toString('utf8'))}${cut}\n`
}
