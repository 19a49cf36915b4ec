/**
 * Connections to other servers, pooled by destination. Destinations share connections only if address, server name, CA
 * bundle and client certificate are all equal.
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

/** The address of a call, and how to verify the server. */
export interface Destination {
  /** An IP address, or a host name that the operating system resolves. */
  readonly host: string
  readonly port: number
  /** The name that the server's certificate must be valid for. */
  readonly serverName: string
  /** The exact common name that the certificate must also have. Unset if any common name is allowed. */
  readonly commonName?: string
  /** The value of the `Host` header. */
  readonly hostHeader: string
  /** CA certificates in PEM format. Undefined means the system's trust store. */
  readonly authority: string | undefined
  /** Whether to accept any certificate. Only for objects in which a user explicitly requests this. */
  readonly isUnverified?: boolean
  readonly credentials: Credentials
  /** Maximum number of idle connections. By default, all connections may remain open for later requests. */
  readonly maxIdle?: number
  /** Uses plain HTTP with one connection per request. Either `tcp`, or a function that creates the connection. */
  readonly plain?: 'tcp' | (() => Duplex)
}

/** Maximum number of destinations with open connections. */
const maxDestinations = 256

/** Limits that depend on the purpose of the connections. */
export interface ConnectionsOptions {
  /**
   * Maximum number of connections per destination. All of them may remain open for later calls, because a new
   * connection costs several times as much as a call.
   */
  readonly maxPerDestination: number
  /**
   * Whether users choose the destinations. Idle connections to many destinations would exhaust the file descriptors, so
   * fewer remain open, and a new connection may resume the TLS session of an earlier one.
   */
  readonly isForUsers?: boolean
}

interface OpenDestination {
  readonly pool: ConnectionPool
  readonly target: TlsTarget
}

export class Connections {
  readonly #options: ConnectionsOptions
  /** The pools by destination. At the limit, the least recently used pool is evicted. */
  readonly #open = new BoundedMap<string, OpenDestination>(maxDestinations)
  readonly #keys = new WeakMap<Destination, string>()

  constructor(options: ConnectionsOptions) {
    this.#options = options
  }

  poolOf(destination: Destination): ConnectionPool {
    const key = this.#keyOf(destination)
    return this.#keep(key, this.#open.get(key) ?? this.#add(destination))
  }

  /** Returns a pool for a single connection that is never reused. For protocol upgrades and plain HTTP. */
  singleUsePool(destination: Destination): ConnectionPool {
    const { host, port, plain } = destination
    const options = { maxConnections: 1, maxIdle: 0 }
    if (plain === 'tcp') return new ConnectionPool({ ...options, open: (onSocket) => openTcp(host, port, onSocket) })
    if (plain !== undefined) return new ConnectionPool({ ...options, open: async () => plain() })
    const { target } = this.#open.get(this.#keyOf(destination)) ?? { target: targetOf(destination) }
    return new ConnectionPool({ ...options, open: (onSocket) => openTls(target, onSocket) })
  }

  /**
   * Returns whether a second attempt may succeed. The server may have closed an idle connection just when it was
   * reused. Such a call is repeated only if that is safe. A certificate without names may have been signed by the given
   * CA.
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

  /** Accepts no new calls. Running calls continue. */
  close(): void {
    for (const { pool } of this.#open.values()) pool.close()
    this.#open.clear()
  }

  /** Closes all connections. Running calls fail. */
  destroy(): void {
    for (const { pool } of this.#open.values()) pool.destroy()
    this.#open.clear()
  }

  #keyOf(destination: Destination): string {
    const key = this.#keys.get(destination) ?? keyOf(destination)
    this.#keys.set(destination, key)
    return key
  }

  /**
   * Remembers a pool. If another destination is evicted, its idle connections are closed, and no later request uses its
   * pool.
   */
  #keep(key: string, open: OpenDestination): ConnectionPool {
    for (const { pool } of this.#open.set(key, open)) pool.close()
    return open.pool
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
    // Pods receive no credentials.
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
    // The context is created once, because parsing the certificates for each connection would cost more than a call.
    secureContext: secureContextOf({
      // Every certificate in the bundle is trusted, even an intermediate CA, as in kube-apiserver.
      ...(authority === undefined ? {} : { ca: authority, allowPartialTrustChain: true }),
      ...(certificate === undefined ? {} : { cert: certificate, key }),
    }),
  }
}

/** Returns a function that opens connections which resume the TLS session of the previous one. */
function resuming(target: TlsTarget): PoolOptions['open'] {
  let session: Buffer | undefined
  const onSession = (latest: Buffer) => {
    session = latest
  }
  return (onSocket) => openTls({ ...target, session, onSession }, onSocket)
}

/**
 * Returns the check of a common name. Such connections resume no session, because Node does not check the certificate's
 * names on a resumed session.
 */
function requireCommonName(commonName: string): Pick<TlsTarget, 'checkServerIdentity'> {
  return {
    checkServerIdentity: (host, certificate) =>
      checkServerIdentity(host, certificate) ?? commonNameFault(certificate, commonName),
  }
}

/**
 * Returns an error if the certificate does not have exactly this common name. Node returns several common names as an
 * array, and omits the subject of a certificate that has none.
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
