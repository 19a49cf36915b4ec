/**
 * The certificates that a port shows, by node: each is asked for when a client first names its node, and again when its
 * time is over. Of many nodes in one process only those that somebody connects to need one.
 */
import { constants } from 'node:crypto'
import type { Server } from 'node:https'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import { TtlCache } from '../../base/collections/ttl-cache.ts'
import { errorFields, type Log } from '../../base/telemetry/log.ts'
import type { TimerClock } from '../../base/time/clock.ts'

/** A certificate with its key, as PEM. */
export interface ServingCertificate {
  readonly certificate: string
  readonly key: string
  /** Until when it may be shown, in milliseconds since 1970. */
  readonly until: number
}

export interface ServingParts {
  /** The serving certificate of a node. */
  readonly certificate: (node: string) => Promise<ServingCertificate>
  /** The authorities of client certificates, as PEM. */
  readonly clientAuthorities: () => string
  readonly clock: TimerClock
  readonly log: Log
}

/** Within one timer's reach. */
const longestWaitMs = 24 * 60 * 60 * 1000
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

  /** Shows the certificate of this node to clients that name none, from when there is one. */
  async showByDefault(server: Server, node: string): Promise<void> {
    const { certificate, clock, log } = this.#parts
    let waitMs = retryMs
    try {
      const serving = await certificate(node)
      server.setSecureContext(this.#options(serving))
      waitMs = Math.min(Math.max(serving.until - clock.now(), retryMs), longestWaitMs)
    } catch (error) {
      log.warn('no serving certificate for node port yet', { node, ...errorFields(error) })
    }
    this.#cancel = clock.after(waitMs, () => void this.showByDefault(server, node))
  }

  close(): void {
    this.#cancel()
  }

  /** No session is resumed: every connection shows its certificate anew. */
  #options({ certificate: cert, key }: ServingCertificate): SecureContextOptions {
    const ca = this.#parts.clientAuthorities()
    return { cert, key, ca, minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET }
  }
}
