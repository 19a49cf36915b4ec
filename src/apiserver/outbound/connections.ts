/**
 * Connections to other servers, pooled per destination. Destinations share connections only if they are alike in all that
 * a connection is made with: address, name, trusted authorities, client certificate.
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
import { CallError, wrongCommonName } from './call-error.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { Credentials } from './credentials.ts'
import { NamelessCertificateAgent } from './nameless-certificates.ts'

/** Where a call goes, and how the server there is known. */
export interface Destination {
  /** A name, which the machine's resolver resolves, or an address. */
  readonly host: string
  readonly port: number
  /** The name that the other side's certificate must be valid for. */
  readonly serverName: string
  /** The only common name that its certificate may have, besides being valid for `serverName`; any where it is absent. */
  readonly commonName?: string
  /** What the `Host` header says. */
  readonly hostHeader: string
  /** Certificates of the authorities that may vouch for it, as PEM; undefined: those that the machine trusts. */
  readonly authority: string | undefined
  /** Whether any certificate is accepted. Only for objects in which a user asks for exactly this. */
  readonly isUnverified?: boolean
  readonly credentials: Credentials
  /** Where it is spoken to without TLS, over a connection for each request: 'tcp', or what this makes. */
  readonly plain?: 'tcp' | (() => Duplex)
}

const idleMs = 60_000
/** Of the connections to one node agent: users can reach many agents, one after the other. */
const maxIdlePerAgent = 2
/** Of destinations with connections. */
const maxDestinations = 256

export class Connections {
  readonly #maxPerDestination: number
  /** By destination; the least recently used are evicted. */
  readonly #agents = new BoundedMap<string, Agent>(maxDestinations)
  /** For calls, which need less than an agent does for them. */
  readonly #pools = new WeakMap<Agent, ConnectionPool>()
  readonly #keys = new WeakMap<Destination, string>()

  /** All connections may stay open for later calls: a new one costs several times what a call does. */
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
    // An address is not a name that could be asked for; certificates are compared with `host` then.
    const servername = isIP(serverName) === 0 ? serverName : ''
    const pool = this.#pools.get(agent) ?? new ConnectionPool(agent, { host, port, servername })
    this.#pools.set(agent, pool)
    return pool
  }

  /** An agent for one connection that nobody uses again: for a request that asks to switch protocols. */
  singleUseAgent(destination: Destination): Agent {
    const options = { ...this.#optionsOf(destination), keepAlive: false }
    const known = this.#agents.get(this.#keyOf(destination))
    return known instanceof NamelessCertificateAgent ? known.withOptions(options) : new Agent(options)
  }

  /**
   * Whether a second try may help. The other side may close an idle connection just as it is used again; that is repeated
   * only where the call is repeatable. A certificate without names may be one that the authority has signed.
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

  /** Requests that are under way go on. Idle connections are closed, and no later request uses a connection. */
  #retire(agent: Agent): void {
    this.#pools.get(agent)?.close()
    agent.maxFreeSockets = 0
    for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }

  #optionsOf({ authority, isUnverified = false, commonName, credentials }: Destination): AgentOptions {
    const { certificate, key } = credentials
    return {
      ...(commonName === undefined ? {} : requireCommonName(commonName)),
      // Users choose pods and ports, which get no credentials: idle connections to many of them would use up all files.
      keepAlive: !isUnverified || certificate !== undefined,
      maxSockets: this.#maxPerDestination,
      maxFreeSockets: commonName === undefined ? this.#maxPerDestination : maxIdlePerAgent,
      timeout: idleMs,
      rejectUnauthorized: !isUnverified,
      // Made once: reading the certificates for every connection would cost more than a call.
      secureContext: secureContextOf({
        // Whoever is named is trusted, also an authority that another has signed: so it is in kube-apiserver.
        ...(authority === undefined ? {} : { ca: authority, allowPartialTrustChain: true }),
        ...(certificate === undefined ? {} : { cert: certificate, key }),
      }),
    }
  }
}

/** No session is resumed: Node compares no names when one is. */
function requireCommonName(commonName: string): AgentOptions {
  return {
    maxCachedSessions: 0,
    checkServerIdentity: (host, certificate) =>
      checkServerIdentity(host, certificate) ?? commonNameFault(certificate, commonName),
  }
}

/** Node gives several common names as an array, and leaves out the subject of a certificate that has none. */
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
