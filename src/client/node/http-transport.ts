/**
 * Network transport of the client for Node.js: TLS with HTTP/2, or with HTTP/1.1 if the server does not support HTTP/2.
 * For an http URL, the transport uses neither TLS nor credentials. Credentials are a client certificate, a token, or a
 * source of changing credentials.
 *
 * If the server rejects the credentials and their source has new credentials, the request is sent once more. The second
 * attempt is safe, because a 401 means that the server has not executed the request. A new certificate needs new
 * connections. Connections with the old certificate are closed when idle. `close` closes all connections.
 */
import { Readable } from 'node:stream'
import { orAborted } from '../../base/concurrency/abort.ts'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../requests/transport.ts'
import type { ClientCertificate, CredentialSource, Credentials } from './credentials.ts'
import { type Dialed, type DialOptions, dial, isSecure } from './dial.ts'
import { Http2Wire } from './http2-wire.ts'
import type { UpgradedConnection, UpgradeRequest } from './upgrade.ts'
import type { Wire, WireRequest } from './wire.ts'

/** Server and credentials of a transport. */
export interface HttpTransportOptions extends DialOptions {
  /** Client certificate and key in PEM format. */
  readonly certificate?: ClientCertificate
  /** Returns a bearer token. The function is called before every request. */
  readonly token?: () => string | Promise<string>
  /**
   * Source of changing credentials. `certificate` is used if the source returns no certificate. `token` always takes
   * precedence.
   */
  readonly credentials?: CredentialSource
  /** Additional headers for every request. */
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  /** Ping interval in milliseconds. A connection that has not responded by the next ping is closed. */
  readonly pingMs?: number
}

const usualPingMs = 30_000
/**
 * Maximum number of replaced certificates whose connections stay open. Requests that use older certificates are
 * aborted.
 */
const maxRetired = 8

/** Sends requests over HTTP/2 or HTTP/1.1. */
export class HttpTransport {
  readonly #options: HttpTransportOptions
  readonly #prefix: string
  #line: Line | undefined
  readonly #retired: Line[] = []
  #closed = false

  /**
   * Creates a transport. A path in the server's URL is a prefix of all request paths. Throws an error if credentials
   * would be sent unencrypted.
   */
  constructor(options: HttpTransportOptions) {
    const { server, certificate, token, credentials } = options
    if (!isSecure(server) && (certificate ?? token ?? credentials) !== undefined)
      throw new TransportError(`refusing to send credentials to ${server}, which does not use https`)
    this.#options = options
    this.#prefix = new URL(options.server).pathname.replace(/\/$/, '')
  }

  readonly send: Transport = async (request) => {
    const source = this.#options.credentials
    if (source === undefined) return await this.#sendAs({}, request)
    const first = await orAborted(source.current(request.signal), request.signal)
    const answer = await this.#sendAs(first, request)
    if (answer.status !== 401) return answer
    // Read the whole response first, because this frees the connection, and `replace` can take a long time.
    const refusal = await readRefusal(answer)
    const other = await orAborted(source.replace(first, request.signal), request.signal)
    return other === undefined ? refusal : await this.#sendAs(other, request)
  }

  /** Closes all connections and aborts running requests. */
  close(): void {
    this.#closed = true
    this.#line?.destroy()
    for (const line of this.#retired) line.destroy()
  }

  /**
   * Upgrades to another protocol on a separate connection, which the caller then owns. Throws `UpgradeRefused` if the
   * server sends another response.
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

  /** Adds the path prefix and the credentials to a request. */
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

/**
 * All connections that use the same client certificate. The first connection determines whether all of them use HTTP/2.
 */
class Line {
  readonly #certificate: ClientCertificate | undefined
  readonly #opening: Promise<Wire>
  #wire: Wire | undefined
  #destroyed = false

  /** Opens the first connection. `onFailure` is called if that fails. */
  constructor(options: HttpTransportOptions, certificate: ClientCertificate | undefined, onFailure: () => void) {
    this.#certificate = certificate
    this.#opening = openWire(options, () => dial(options, certificate)).then((wire) => {
      if (this.#destroyed) wire.destroy()
      this.#wire = wire
      return wire
    })
    this.#opening.catch(onFailure) // The error is ignored here, because callers that wait for the connection receive it.
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

/**
 * Reads the body of a 401 response to free the connection. The size of the body is limited, because errors are short.
 */
async function readRefusal(answer: TransportResponse): Promise<TransportResponse> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.length
    if (size > maxRefusal) throw new TransportError(`the server's error response is longer than ${maxRefusal} bytes`)
    chunks.push(chunk)
  }
  return { ...answer, body: Readable.from(chunks) }
}

const maxRefusal = 1024 * 1024
