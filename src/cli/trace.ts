/**
 * What goes over the wire, for those who ask for it: `-v 6` shows each request and how long it took, 7 the headers too, 8 the
 * bodies in part and 9 as a whole. Nothing secret is shown: neither credentials in headers nor the bodies of secrets and tokens.
 */
import type { Transport, TransportRequest, TransportResponse } from '../client/transport.ts'
import { escapeLine } from './printers/escape.ts'

/** The level of `-v` from which requests are shown, as kubectl has it. */
export const tracedFrom = 6
const headersFrom = 7
const bodiesFrom = 8
const wholeFrom = 9
/** What level 8 shows of a body. */
const shownBytes = 1024

export interface TraceOptions {
  readonly server: string
  readonly level: number
  readonly tell: (text: string) => void
}

/** A transport that shows what it sends and gets. */
export function withTrace(send: Transport, { server, level, tell }: TraceOptions): Transport {
  return async (request) => {
    const began = performance.now()
    const line = (outcome: string) =>
      `${request.method} ${server}${escapeLine(request.path)} ${outcome} in ${Math.round(performance.now() - began)} milliseconds\n`
    if (level >= headersFrom) tell(headersText('Request Headers', request.headers))
    if (level >= bodiesFrom && request.body !== undefined)
      tell(bodyText({ title: 'Request Body', path: request.path, ...sized(Buffer.from(request.body)) }, level))
    try {
      const response = await send(request)
      tell(line(String(response.status)))
      if (level >= headersFrom) tell(headersText('Response Headers', response.headers))
      return level < bodiesFrom ? response : { ...response, body: shown(request, response, { level, tell }) }
    } catch (error) {
      tell(line('failed'))
      throw error
    }
  }
}

const secretHeaders = /^(?:authorization|proxy-authorization|cookie|set-cookie|.*token.*)$/i

function headersText(title: string, headers: { readonly [name: string]: string }): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    const hidden = secretHeaders.test(name) ? '<hidden>' : escapeLine(value)
    return `    ${escapeLine(name)}: ${hidden}\n`
  })
  return `${title}:\n${lines.join('')}`
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
