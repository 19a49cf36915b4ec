/**
 * What goes over the wire, for those who ask for it: `-v 6` shows each request and how long it took, 7 the headers too, 8 the
 * bodies in part and 9 as a whole, with the request as a call of curl. Nothing secret is shown: neither credentials in headers nor the bodies of secrets and tokens.
 */
import { STATUS_CODES } from 'node:http'
import type { Transport, TransportRequest, TransportResponse } from '../../../client/requests/transport.ts'
import { escapeLine } from '../printers/escape.ts'

/** The levels of `-v` from which more than a line for each request is shown. */
const headersFrom = 7
const bodiesFrom = 8
const wholeFrom = 9
const curlFrom = 9
/** What level 8 shows of a body. */
const shownBytes = 1024

export interface TraceOptions {
  readonly server: string
  readonly level: number
  readonly tell: (text: string) => void
}

/** A transport that shows what it sends and gets: whole requests that go on at the same time, in the order of their parts. */
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
      return level < bodiesFrom ? response : { ...response, body: shown(request, response, { level, tell }) }
    } catch (error) {
      tell(`${request.method} ${url} ${after('failed')}`)
      throw error
    }
  }
}

/** `200 OK` */
function statusText(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
}

/** The call of curl that would send the same, but for credentials and the body: kubectl prints it in their place. */
function curlText({ method, headers }: TransportRequest, url: string): string {
  const shownHeaders = Object.entries(headers).map(
    ([name, value]) => ` -H ${quoted(`${name}: ${shownValue(name, value)}`)}`,
  )
  return `curl -v -X${method}${shownHeaders.join('')} ${quoted(url)}\n`
}

/** For a shell, whatever is in it. */
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

/** Paths whose bodies hold what nobody but their reader may see. */
const secretPath =
  /\/(?:secrets|tokenreviews|certificatesigningrequests)(?:[/?]|$)|\/serviceaccounts\/[^/]+\/token(?:[/?]|$)/
/** Of these a body has no end. */
const endless = /[?&](?:watch|follow)=(?:true|1)(?:&|$)/

/** The answer goes on to its reader as it comes, and is shown when it is whole. */
async function* shown(
  request: TransportRequest,
  { body }: TransportResponse,
  { level, tell }: Pick<TraceOptions, 'level' | 'tell'>,
): AsyncGenerator<Uint8Array> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (!endless.test(request.path) && (level >= wholeFrom || size - chunk.length < shownBytes)) kept.push(chunk)
    yield chunk
  }
  if (endless.test(request.path)) tell(`Response Body: a stream of ${size} bytes\n`)
  else tell(bodyText({ title: 'Response Body', path: request.path, bytes: Buffer.concat(kept), size }, level))
}

function sized(bytes: Buffer): { bytes: Buffer; size: number } {
  return { bytes, size: bytes.length }
}

interface Body {
  readonly title: string
  /** Of the request that it belongs to. */
  readonly path: string
  /** What is kept of it. */
  readonly bytes: Buffer
  readonly size: number
}

function bodyText({ title, path, bytes, size }: Body, level: number): string {
  if (secretPath.test(path)) return `${title}: <hidden: ${size} bytes that may hold secrets>\n`
  const part = level >= wholeFrom ? bytes : bytes.subarray(0, shownBytes)
  const cut = size > part.length ? ` [truncated ${size - part.length} bytes]` : ''
  return `${title}: ${escapeLine(part.toString('utf8'))}${cut}\n`
}
