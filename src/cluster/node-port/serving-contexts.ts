/**
 * Serving certificates of a port, by node. Each certificate is obtained when a client first connects to the node, and
 * is replaced when it expires. If many nodes share a process, only nodes with connections need a certificate.
 */
import { constants } from 'node:crypto'
import type { Server } from 'node:https'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { TimerClock } from '../../base/time/clock.ts'

/** A certificate with its key, in PEM format. */
export interface ServingCertificate {
  readonly certificate: string
  readonly key: string
  /** Time in milliseconds since 1970 after which the certificate must be replaced. */
  readonly until: number
}

export interface ServingParts {
  /** Obtains the serving certificate of a node. */
  readonly certificate: (node: string) => Promise<ServingCertificate>
  /** Returns the CAs for client certificates, in PEM format. */
  readonly clientAuthorities: () => string
  readonly clock: TimerClock
  readonly log: Log
}

/** Maximum duration of one timer in milliseconds. Must be below the limit of Node.js timers. */
const maxWaitMs = 24 * 60 * 60 * 1000
const retryMs = 10_000

export class ServingContexts {
  readonly #parts: ServingParts
  readonly #contexts: TtlCache<SecureContext>
  #cancel = () => {}

  constructor(parts: ServingParts) {
    this.#parts = parts
    this.#contexts = new TtlCache(parts.clock)
  }

  async contextOf(node: string): Promise<SecureContext> {
    return await this.#contexts.get(node, async () => {
      const serving = await this.#parts.certificate(node)
      const ttlMs = Math.max(0, serving.until - this.#parts.clock.now())
      return { value: createSecureContext(this.#options(serving)), ttlMs }
    })
  }

  /**
   * Makes the certificate of this node the default for clients that do not name a node, once the certificate is
   * available.
   */
  async showByDefault(server: Server, node: string): Promise<void> {
    const { certificate, clock, log } = this.#parts
    let waitMs = retryMs
    try {
      const serving = await certificate(node)
      server.setSecureContext(this.#options(serving))
      waitMs = Math.min(Math.max(serving.until - clock.now(), retryMs), maxWaitMs)
    } catch (error) {
      log.warn('the node agent has no serving certificate yet', { node, ...errorFields(error) })
    }
    this.#cancel = clock.after(waitMs, () => void this.showByDefault(server, node))
  }

  close(): void {
    this.#cancel()
  }

  /**
   * Returns the TLS options for a certificate. Disables session tickets, so that the client presents its certificate on
   * every connection.
   */
  #options({ certificate: cert, key }: ServingCertificate): SecureContextOptions {
    const ca = this.#parts.clientAuthorities()
    return { cert, key, ca, minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET }
  }
}
