/**
 * HTTP/1.1, for servers and proxies without HTTP/2: one connection per concurrent request, with keep-alive. A read that
 * fails because the server was closing an idle connection is retried. A write is not, because it may have been
 * executed.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { TransportError, type TransportResponse } from '../requests/transport.ts'
import { type Dialed, isSecure } from './dial.ts'
import type { Wire, WireRequest } from './wire.ts'

export interface Http1WireOptions {
  readonly server: string
  readonly dial: () => Promise<Dialed>
}

const maxConnections = 256
const keepAliveMs = 30_000

export class Http1Wire implements Wire {
  readonly #server: URL
  readonly #agent: DialingAgent

  /** `first` is an open connection. */
  constructor({ server, dial }: Http1WireOptions, first: Dialed) {
    this.#server = new URL(server)
    this.#agent = new DialingAgent(this.#server.protocol, dial, first)
  }

  async send(wanted: WireRequest): Promise<TransportResponse> {
    try {
      return await this.#sendOnce(wanted)
    } catch (error) {
      const again = error instanceof StaleConnection && ['GET', 'HEAD'].includes(wanted.method)
      if (!again) throw error
      return await this.#sendOnce(wanted)
    }
  }

  retire(): void {
    this.#agent.retire()
  }

  destroy(): void {
    this.#agent.destroy()
  }

  #sendOnce({ method, path, headers, body, signal }: WireRequest): Promise<TransportResponse> {
    signal.throwIfAborted()
    const defaultPort = isSecure(this.#server.href) ? 443 : 80
    const call = request({
      agent: this.#agent,
      protocol: this.#server.protocol,
      host: this.#server.hostname.replace(/^\[|\]$/g, ''),
      port: this.#server.port || defaultPort,
      defaultPort,
      method,
      path,
      headers: {
        ...(headers as { [name: string]: string | string[] }),
        ...(body === undefined ? {} : { 'content-length': body.length }),
      },
      signal,
    })
    call.end(body)
    return answerOf(call, signal)
  }
}

/** A reused connection ended without a response. */
class StaleConnection extends TransportError {}

function answerOf(call: ClientRequest, signal: AbortSignal): Promise<TransportResponse> {
  return new Promise((resolve, reject) => {
    call.once('response', (answer) =>
      resolve({ status: answer.statusCode ?? 0, headers: plain(answer), body: bodyOf(answer, signal) }),
    )
    call.on('error', (error) => {
      if (signal.aborted) return reject(signal.reason)
      if (error instanceof TransportError) return reject(error)
      const Kind = call.reusedSocket ? StaleConnection : TransportError
      reject(new Kind('the connection closed before a response arrived', { cause: error }))
    })
  })
}

/** Returning from the iteration destroys the connection, which the server notices. */
async function* bodyOf(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of answer) yield chunk
  } catch (error) {
    signal.throwIfAborted()
    throw new TransportError('the connection closed before the response was complete', { cause: error })
  }
  signal.throwIfAborted()
  if (!answer.complete) throw new TransportError('the connection closed before the response was complete')
}

function plain({ headers }: IncomingMessage): { [name: string]: string } {
  const entries = Object.entries(headers).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : `${value}`]),
  )
}

/** Pools connections and opens them with `dial`, so that proxies and certificates work as with HTTP/2. */
class DialingAgent extends Agent {
  readonly #dial: () => Promise<Dialed>
  #first: Dialed | undefined
  #retired = false

  /** The base class only checks that `protocol` matches that of the request. */
  constructor(protocol: string, dial: () => Promise<Dialed>, first: Dialed) {
    super({ keepAlive: true, maxSockets: maxConnections, protocol })
    this.#dial = dial
    this.#first = first
  }

  override createConnection(
    _options: object,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    const first = this.#first
    this.#first = undefined
    const opened = first === undefined || first.destroyed ? this.#dial() : Promise.resolve(first)
    opened.then(
      (socket) => {
        socket.setKeepAlive(true, keepAliveMs)
        callback?.(null, socket)
      },
      (error: Error) => callback?.(error, undefined as never),
    )
    return undefined
  }

  override keepSocketAlive(socket: Duplex): boolean {
    return !this.#retired && super.keepSocketAlive(socket) !== (false as unknown)
  }

  /** Stops reusing connections. */
  retire(): void {
    this.#retired = true
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}
