/**
 * Connections to other servers, pooled by destination. Destinations share connections only if address, server name, CA
 * bundle and client certificate are all equal.
 */
import { createHash } from 'node:crypto'
import { Agent, type AgentOptions } from 'node:https'
import { isIP } from 'node:net'
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
import { ConnectionPool } from '../../wire/http/client/connection-pool.ts'
import { NamelessCertificateAgent } from '../../wire/http/client/nameless-certificates.ts'
import type { Credentials } from './credentials.ts'

/** The address of a call, and how to verify the server. */
export interface Destination {
  /** An IP address, or a host name that the system resolves. */
  readonly host: string
  readonly port: number
  /** The name that the server's certificate must be valid for. */
  readonly serverName: string
  /** If set, the certificate must also have exactly this common name. */
  readonly commonName?: string
  /** Value of the `Host` header. */
  readonly hostHeader: string
  /** CA certificates as PEM; undefined means the system's trust store. */
  readonly authority: string | undefined
  /** Whether to accept any certificate. Only for objects in which a user explicitly requests this. */
  readonly isUnverified?: boolean
  readonly credentials: Credentials
  /** Maximum number of idle connections. By default, all connections may stay open for later requests. */
  readonly maxIdle?: number
  /** Uses plain HTTP with one connection per request: 'tcp', or a function that creates the connection. */
  readonly plain?: 'tcp' | (() => Duplex)
}

const idleMs = 60_000
/** Maximum number of destinations with open connections. */
const maxDestinations = 256

export class Connections {
  readonly #maxPerDestination: number
  /** Agents by destination; the least recently used are evicted. */
  readonly #agents = new BoundedMap<string, Agent>(maxDestinations)
  /** Pools for calls, which need less than an agent offers. */
  readonly #pools = new WeakMap<Agent, ConnectionPool>()
  readonly #keys = new WeakMap<Destination, string>()

  /** All connections may stay open for later calls, because a new connection costs several times as much as a call. */
  constructor(maxPerDestination: number) {
    this.#maxPerDestination = maxPerDestination
  }

  agentOf(destination: Destination): Agent {
    const key = this.#keyOf(destination)
    const agent = this.#agents.get(key) ?? new Agent(this.#optionsOf(destination))
    this.#keep(key, agent)
    return agent
  }

  poolOf(destination: Destination): ConnectionPool {
    const agent = this.agentOf(destination)
    const { host, port, serverName } = destination
    // SNI does not allow IP addresses. Node then checks the certificate against `host`.
    const servername = isIP(serverName) === 0 ? serverName : ''
    const pool = this.#pools.get(agent) ?? new ConnectionPool(agent, { host, port, servername })
    this.#pools.set(agent, pool)
    return pool
  }

  /** An agent for a single connection that is never reused, for protocol upgrades. */
  singleUseAgent(destination: Destination): Agent {
    const options = { ...this.#optionsOf(destination), keepAlive: false }
    const known = this.#agents.get(this.#keyOf(destination))
    return known instanceof NamelessCertificateAgent ? known.withOptions(options) : new Agent(options)
  }

  /**
   * Whether a second attempt may succeed. The server may have closed an idle connection just as it was reused: such a
   * call is repeated only if it is safe to repeat. A certificate without names may have been signed by the given CA.
   */
  mend(destination: Destination, { remedy }: CallError): boolean {
    if (remedy !== 'verify') return remedy === 'reconnect'
    const key = this.#keyOf(destination)
    const { authority } = destination
    if (authority === undefined || destination.commonName !== undefined) return false
    if (this.#agents.get(key) instanceof NamelessCertificateAgent) return false
    this.#keep(key, new NamelessCertificateAgent(this.#optionsOf(destination), authority))
    return true
  }

  close(): void {
    for (const agent of this.#agents.values()) {
      this.#pools.get(agent)?.close()
      agent.destroy()
    }
    this.#agents.clear()
  }

  #keyOf(destination: Destination): string {
    const key = this.#keys.get(destination) ?? keyOf(destination)
    this.#keys.set(destination, key)
    return key
  }

  #keep(key: string, agent: Agent): void {
    for (const evicted of this.#agents.set(key, agent)) this.#retire(evicted)
  }

  /** Running requests continue. Idle connections are closed, and no later request uses the agent. */
  #retire(agent: Agent): void {
    this.#pools.get(agent)?.close()
    agent.maxFreeSockets = 0
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  #optionsOf({ authority, isUnverified = false, commonName, credentials, maxIdle }: Destination): AgentOptions {
    const { certificate, key } = credentials
    return {
      ...(commonName === undefined ? {} : requireCommonName(commonName)),
      // Users can choose pods and ports, which get no credentials. Idle connections to many of them would exhaust the
      // file descriptors.
      keepAlive: !isUnverified || certificate !== undefined,
      maxSockets: this.#maxPerDestination,
      maxFreeSockets: maxIdle ?? this.#maxPerDestination,
      timeout: idleMs,
      rejectUnauthorized: !isUnverified,
      // Created once, because parsing the certificates for each connection would cost more than a call.
      secureContext: secureContextOf({
        // Trust every certificate in the bundle, even an intermediate CA, as kube-apiserver does.
        ...(authority === undefined ? {} : { ca: authority, allowPartialTrustChain: true }),
        ...(certificate === undefined ? {} : { cert: certificate, key }),
      }),
    }
  }
}

/** Disables session resumption, because Node does not check the certificate's names on a resumed session. */
function requireCommonName(commonName: string): AgentOptions {
  return {
    maxCachedSessions: 0,
    checkServerIdentity: (host, certificate) =>
      checkServerIdentity(host, certificate) ?? commonNameFault(certificate, commonName),
  }
}

/** Node returns several common names as an array, and omits the subject of a certificate that has none. */
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
    throw new CallError('tls', 'x509: the CA bundle or the client certificate cannot be read')
  }
}
