/** Connections to servers that are configured by URL. */
import { CallError } from './call-error.ts'
import { ConnectionPool } from './connection-pool.ts'
import { openTcp, openTls } from './open-connection.ts'

export interface UrlConnectionsOptions {
  /** CA certificates in PEM format. Defaults to the well-known CAs. */
  readonly authority?: string | undefined
  /** Client certificate and private key in PEM format. */
  readonly certificate?: { readonly certificate: string; readonly key: string } | undefined
  /** Maximum number of connections per server. Defaults to no limit. */
  readonly maxConnections?: number
}

/** The connection pools, one for each URL origin. */
export class UrlConnections {
  readonly #options: UrlConnectionsOptions
  readonly #pools = new Map<string, ConnectionPool>()

  constructor(options: UrlConnectionsOptions = {}) {
    this.#options = options
  }

  poolOf(url: URL): ConnectionPool {
    const pool = this.#pools.get(url.origin) ?? this.#open(url)
    this.#pools.set(url.origin, pool)
    return pool
  }

  /** Closes idle connections. Running calls continue, but their connections are not reused. */
  close(): void {
    for (const pool of this.#pools.values()) pool.close()
  }

  /** Closes all connections. Running calls fail. */
  destroy(): void {
    for (const pool of this.#pools.values()) pool.destroy()
  }

  #open({ protocol, hostname, port }: URL): ConnectionPool {
    const { authority, certificate, maxConnections = Number.POSITIVE_INFINITY } = this.#options
    const host = hostname.replace(/^\[|\]$/g, '')
    if (protocol === 'http:')
      return new ConnectionPool({ open: (onSocket) => openTcp(host, Number(port || 80), onSocket), maxConnections })
    if (protocol !== 'https:') throw new CallError('connection', `the protocol ${protocol} is not supported`)
    const target = {
      host,
      port: Number(port || 443),
      ...(authority === undefined ? {} : { ca: authority }),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    }
    return new ConnectionPool({ open: (onSocket) => openTls(target, onSocket), maxConnections })
  }
}
