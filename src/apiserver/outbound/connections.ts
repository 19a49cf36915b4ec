/**
 * Pools the connections to other servers by destination. Two calls share a pool only if the address, the server name,
 * the CA bundle and the client certificate are all equal.
 */
import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import {
  checkServerIdentity,
  createSecureContext,
  type PeerCertificate,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import { CallError, wrongCommonName } from '../../wire/http/client/call-error.ts'
import { ConnectionPool, type PoolOptions } from '../../wire/http/client/connection-pool.ts'
import { namelessCertificateVerifier } from '../../wire/http/client/nameless-certificates.ts'
import { openTcp, openTls, type ServerVerifier, type TlsTarget } from '../../wire/http/client/open-connection.ts'
import type { Credentials } from './credentials.ts'

/** The address of another server, and the settings for verifying its certificate. */
export interface Destination {
  readonly host: string
  readonly port: number
  /** The name for which the server's certificate must be valid. */
  readonly serverName: string
  /** The only common name that is accepted in the server's certificate. Undefined if any common name is accepted. */
  readonly commonName?: string
  readonly hostHeader: string
  /** CA certificates in PEM format. If undefined, the system's trust store is used. */
  readonly authority: string | undefined
  /** Whether to accept any certificate. Set only if a user explicitly requests it in an object. */
  readonly isUnverified?: boolean
  readonly credentials: Credentials
  /** Maximum number of idle connections. By default, every connection may remain open for later requests. */
  readonly maxIdle?: number
  /**
   * Selects connections without TLS, one for each request. With `tcp`, the connections use TCP. With a function, each
   * connection uses a stream that the function creates.
   */
  readonly plain?: 'tcp' | (() => Duplex)
}

/** Maximum number of destinations with open connections. */
const maxDestinations = 256

/** Settings of connection pools, which depend on the purpose of the connections. */
export interface ConnectionsOptions {
  /**
   * Maximum number of connections per destination. All of these connections may stay open while idle, because opening a
   * connection costs several times as much as a call.
   */
  readonly maxPerDestination: number
  /**
   * Whether users choose the destinations. If so, only a few idle connections stay open. Otherwise, connections to many
   * destinations could exhaust the file descriptors. New connections then resume the TLS session of an earlier one.
   */
  readonly isForUsers?: boolean
}

interface OpenDestination {
  readonly pool: ConnectionPool
  readonly target: TlsTarget
}

export class Connections {
  readonly #options: ConnectionsOptions
  /** The connection pool of each destination. If there are too many pools, the least recently used pool is evicted. */
  readonly #open = new BoundedMap<string, OpenDestination>(maxDestinations)
  readonly #keys = new WeakMap<Destination, string>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  poolOf(destination: Destination): ConnectionPool {
    return this.#openDestination(destination).pool
  }

  /** Returns a pool for a single request whose connection cannot be reused: a protocol upgrade or plain HTTP. */
  singleUsePool(destination: Destination): ConnectionPool {
    const { host, port, plain } = destination
    const options = { maxConnections: 1, maxIdle: 0 }
    if (plain === 'tcp') return new ConnectionPool({ ...options, open: (onSocket) => openTcp(host, port, onSocket) })
    if (plain !== undefined) return new ConnectionPool({ ...options, open: async () => plain() })
    const { target } = this.#openDestination(destination)
    return new ConnectionPool({ ...options, open: (onSocket) => openTls(target, onSocket) })
  }

  /**
   * Returns whether the caller should repeat a failed call. A call is repeated if the server closed an idle connection
   * and repeating is safe. It is also repeated if the server's certificate contains no names. In that case, the
   * repeated call verifies the certificate against the CA alone.
   */
  mend(destination: Destination, { remedy }: CallError): boolean {
    if (remedy !== 'verify') return remedy === 'reconnect'
    const key = this.#keyOf(destination)
    const { authority } = destination
    if (authority === undefined || destination.commonName !== undefined) return false
    if (this.#open.get(key)?.target.verifier !== undefined) return false
    this.#keep(key, this.#add(destination, namelessCertificateVerifier(authority)))
    return true
  }

  /** Rejects new calls. Running calls continue. */
  close(): void {
    for (const { pool } of this.#open.values()) pool.close()
    this.#open.clear()
  }

  /** Closes all connections, so running calls fail. */
  destroy(): void {
    for (const { pool } of this.#open.values()) pool.destroy()
    this.#open.clear()
  }

  #openDestination(destination: Destination): OpenDestination {
    const key = this.#keyOf(destination)
    const open = this.#open.get(key) ?? this.#add(destination)
    this.#keep(key, open)
    return open
  }

  #keyOf(destination: Destination): string {
    const key = this.#keys.get(destination) ?? keyOf(destination)
    this.#keys.set(destination, key)
    return key
  }

  /** Remembers the pool of a destination. If this evicts another pool, closes the idle connections of that pool. */
  #keep(key: string, open: OpenDestination): void {
    for (const { pool } of this.#open.set(key, open)) pool.close()
  }

  #add(destination: Destination, verifier?: ServerVerifier): OpenDestination {
    const target = { ...targetOf(destination), verifier }
    const isResumed = this.#options.isForUsers && verifier === undefined && destination.commonName === undefined
    const open: PoolOptions['open'] = isResumed ? resuming(target) : (onSocket) => openTls(target, onSocket)
    return { pool: new ConnectionPool({ open, ...this.#limitsOf(destination) }), target }
  }

  #limitsOf({ isUnverified = false, credentials, maxIdle }: Destination): Omit<PoolOptions, 'open'> {
    const { maxPerDestination: maxConnections, isForUsers = false } = this.#options
    if (!isForUsers) return { maxConnections, keepsOpening: true }
    // Do not keep idle connections to pods. Only pods are called without certificate verification and without a client
    // certificate.
    if (isUnverified && credentials.certificate === undefined) return { maxConnections, maxIdle: 0 }
    return { maxConnections, ...(maxIdle === undefined ? {} : { maxIdle }) }
  }
}

function targetOf(destination: Destination): TlsTarget {
  const { host, port, serverName, authority, isUnverified = false, commonName, credentials } = destination
  const { certificate, key } = credentials
  return {
    host,
    port,
    servername: serverName,
    ...(commonName === undefined ? {} : requireCommonName(commonName)),
    rejectUnauthorized: !isUnverified,
    // Created once, because parsing the certificates again for each connection would take longer than a call.
    secureContext: secureContextOf({
      // As in kube-apiserver, trust every certificate in the CA bundle, even an intermediate CA.
      ...(authority === undefined ? {} : { ca: authority, allowPartialTrustChain: true }),
      ...(certificate === undefined ? {} : { cert: certificate, key }),
    }),
  }
}

/** Returns a function that opens TLS connections and resumes the TLS session of the previous one. */
function resuming(target: TlsTarget): PoolOptions['open'] {
  let session: Buffer | undefined
  const onSession = (latest: Buffer) => {
    session = latest
  }
  return (onSocket) => openTls({ ...target, session, onSession }, onSocket)
}

/**
 * Returns TLS options that require a certificate with this common name. With these options, TLS sessions must not be
 * resumed, because Node skips the name check for resumed sessions.
 */
function requireCommonName(commonName: string): Pick<TlsTarget, 'checkServerIdentity'> {
  return {
    checkServerIdentity: (host, certificate) =>
      checkServerIdentity(host, certificate) ?? commonNameFault(certificate, commonName),
  }
}

/**
 * Returns an error unless this is the only common name in the certificate. Node represents several names as an array
 * and an empty subject as undefined.
 */
function commonNameFault({ subject }: PeerCertificate, commonName: string): Error | undefined {
  const shown: string | string[] | undefined = subject?.CN
  if (shown === commonName) return undefined
  return Object.assign(new Error(`its common name is not ${commonName}`), { code: wrongCommonName })
}

function keyOf(destination: Destination): string {
  const { host, port, serverName, commonName = '', authority = '', isUnverified = false, credentials } = destination
  const { certificate = '', key = '' } = credentials
  const hash = createHash('sha256')
  for (const part of [host, String(port), serverName, commonName, authority, String(isUnverified), certificate, key])
    hash.update(`${part.length}:`).update(part)
  return hash.digest('base64')
}

function secureContextOf(options: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(options)
  } catch {
    throw new CallError('tls', 'x509: the CA bundle or the client certificate is invalid')
  }
}
