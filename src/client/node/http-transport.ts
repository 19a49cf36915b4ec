/**
 * The client's transport over the network, for Node: TLS, with HTTP/2 where the server speaks it and HTTP/1.1 where it
 * does not (and without TLS, for an address that says so, without credentials), with a client certificate, a token, or a source of credentials that may change.
 *
 * Credentials that the server refuses are replaced, if their source has others, and the request is sent once more: a 401
 * says that nothing has happened. Another certificate means other connections; those of the old one end when they are
 * idle. `close` ends them all.
 */
import { Readable } from 'node:stream'
import { orAborted } from '../../base/concurrency/abort.ts'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../requests/transport.ts'
import type { ClientCertificate, CredentialSource, Credentials } from './credentials.ts'
import { type Dialed, type DialOptions, dial, isSecure } from './dial.ts'
import { Http2Wire } from './http2-wire.ts'
import type { UpgradedConnection, UpgradeRequest } from './upgrade.ts'
import type { Wire, WireRequest } from './wire.ts'

/** Where the server is and how the client proves who it is. */
export interface HttpTransportOptions extends DialOptions {
  /** PEM of the client's certificate and key. */
  readonly certificate?: ClientCertificate
  /** A bearer token, asked for before every request. */
  readonly token?: () => string | Promise<string>
  /** Credentials that may change; a token or certificate beside it counts where it gets none, a token always. */
  readonly credentials?: CredentialSource
  /** Go out with every request. */
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** How often a connection is tried; one that has not answered by the next time is cut. */
  readonly pingMs?: number
}

const usualPingMs = 30_000
/** Of certificates that were replaced: what is still under way with older ones is cut off. */
const maxRetired = 8

/** Sends requests over HTTP/2 or HTTP/1.1. */
export class HttpTransport {
  readonly #options: HttpTransportOptions
  readonly #prefix: string
  #line: Line | undefined
  readonly #retired: Line[] = []
  #closed = false

  /** A path in the server's address comes before all others. Throws where credentials would go out unprotected. */
  constructor(options: HttpTransportOptions) {
    const { server, certificate, token, credentials } = options
    if (!isSecure(server) && (certificate ?? token ?? credentials) !== undefined)
      throw new TransportError(`${server} is not secure: no credentials are sent there; use https`)
    this.#options = options
    this.#prefix = new URL(options.server).pathname.replace(/\/$/, '')
  }

  readonly send: Transport = async (request) => {
    const source = this.#options.credentials
    if (source === undefined) return await this.#sendAs({}, request)
    const first = await orAborted(source.current(request.signal), request.signal)
    const answer = await this.#sendAs(first, request)
    if (answer.status !== 401) return answer
    // Read before the source is asked, which may take a while: nobody holds the connection meanwhile.
    const refusal = await readRefusal(answer)
    const other = await orAborted(source.replace(first, request.signal), request.signal)
    return other === undefined ? refusal : await this.#sendAs(other, request)
  }

  /** Cuts off what is under way. */
  close(): void {
    this.#closed = true
    this.#line?.destroy()
    for (const line of this.#retired) line.destroy()
  }

  /**
   * Asks the server to speak another protocol, on a connection of its own, which is the caller's from then on. Throws
   * what the server answers instead as an `UpgradeRefused`.
   */
  async upgrade(request: UpgradeRequest): Promise<UpgradedConnection> {
    const { requestUpgrade } = await import('./upgrade.ts')
    const credentials = (await this.#options.credentials?.current(request.signal)) ?? {}
    const socket = await dial({ ...this.#options, protocols: ['http/1.1'] }, this.#certificateOf(credentials))
    return await requestUpgrade(socket, this.#options.server, {
      ...request,
      ...(await this.#asUser(credentials, request)),
    })
  }

  async #sendAs(credentials: Credentials, request: TransportRequest): Promise<TransportResponse> {
    const addressed = await this.#asUser(credentials, request)
    return await this.#lineFor(this.#certificateOf(credentials)).send({ ...request, ...addressed })
  }

  #certificateOf({ certificate }: Credentials): ClientCertificate | undefined {
    return certificate ?? this.#options.certificate
  }

  /** The whole path, and the headers with those that say who asks. */
  async #asUser(
    credentials: Credentials,
    { path, headers }: Pick<TransportRequest, 'path' | 'headers'>,
  ): Promise<Pick<WireRequest, 'path' | 'headers'>> {
    const token = (await this.#options.token?.()) ?? credentials.token
    return {
      path: this.#prefix + path,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...this.#options.headers,
      },
    }
  }

  #lineFor(certificate: ClientCertificate | undefined): Line {
    if (this.#closed) throw new TransportError('the transport is closed')
    const line = this.#line
    if (line?.isFor(certificate)) return line
    if (line !== undefined) this.#retire(line)
    const fresh: Line = new Line(this.#options, certificate, () => {
      if (this.#line === fresh) this.#line = undefined
    })
    this.#line = fresh
    return fresh
  }

  #retire(line: Line): void {
    line.retire()
    this.#retired.push(line)
    if (this.#retired.length > maxRetired) this.#retired.shift()?.destroy()
  }
}

/** The connections with one certificate. Which HTTP they speak is known once the first is open. */
class Line {
  readonly #certificate: ClientCertificate | undefined
  readonly #opening: Promise<Wire>
  #wire: Wire | undefined
  #destroyed = false

  /** `onFailure` is called when no connection could be opened. */
  constructor(options: HttpTransportOptions, certificate: ClientCertificate | undefined, onFailure: () => void) {
    this.#certificate = certificate
    this.#opening = openWire(options, () => dial(options, certificate)).then((wire) => {
      if (this.#destroyed) wire.destroy()
      this.#wire = wire
      return wire
    })
    this.#opening.catch(onFailure) // Those who wait for it get the error.
  }

  isFor(certificate: ClientCertificate | undefined): boolean {
    return certificate?.certificate === this.#certificate?.certificate
  }

  async send(request: WireRequest): Promise<TransportResponse> {
    const wire = this.#wire ?? (await orAborted(this.#opening, request.signal))
    if (this.#destroyed) throw new TransportError('the transport is closed')
    return await wire.send(request)
  }

  retire(): void {
    this.#opening.then(
      (wire) => wire.retire(),
      () => {},
    )
  }

  destroy(): void {
    this.#destroyed = true
    this.#wire?.destroy()
  }
}

async function openWire(options: HttpTransportOptions, open: () => Promise<Dialed>): Promise<Wire> {
  const first = await open()
  const { server, pingMs = usualPingMs } = options
  if (first.alpnProtocol === 'h2') return new Http2Wire({ server, dial: open, pingMs }, first)
  const { Http1Wire } = await import('./http1-wire.ts')
  return new Http1Wire({ server, dial: open }, first)
}

/** The same answer with its body in memory. What is longer than any refusal is not kept. */
async function readRefusal(answer: TransportResponse): Promise<TransportResponse> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > maxRefusal) throw new TransportError(`the server refused with more than ${maxRefusal} bytes`)
    chunks.push(chunk)
  }
  return { ...answer, body: Readable.from(chunks) }
}

const maxRefusal = 1024 * 1024
