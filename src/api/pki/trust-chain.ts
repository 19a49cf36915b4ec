/**
 * Which authority a certificate leads back to, over the certificates that were sent with it. TLS has already judged the
 * certificate as a whole (constraints, usages, algorithms); this finds out by which of several authorities it counts,
 * and from when to when, which TLS does not tell.
 *
 * What is sent is bounded here: certificates that all seem to have signed one another would else cost a signature check
 * for each way through them.
 */
import type { X509Certificate } from 'node:crypto'

/** A certificate and those that lead from it to a trusted authority. */
export interface Chain {
  /** From the certificate itself to the authority. */
  readonly certificates: readonly X509Certificate[]
  /** When all of them are valid. */
  readonly from: number
  readonly to: number
  /** How long the certificate itself is valid in all. */
  readonly lifetime: number
}

const maxSent = 10
const maxChecks = 50

/** Undefined where it leads to none of them. */
export function chainTo(
  authorities: readonly X509Certificate[],
  certificate: X509Certificate,
  sent: readonly X509Certificate[],
): Chain | undefined {
  const found = new Search(authorities, sent.slice(0, maxSent)).from(certificate, [])
  if (found === undefined) return undefined
  const from = found.map((each) => each.validFromDate.getTime())
  const to = found.map((each) => each.validToDate.getTime())
  return { certificates: found, from: Math.max(...from), to: Math.min(...to), lifetime: to[0]! - from[0]! }
}

class Search {
  readonly #authorities: readonly X509Certificate[]
  readonly #sent: readonly X509Certificate[]
  #checks = 0

  constructor(authorities: readonly X509Certificate[], sent: readonly X509Certificate[]) {
    this.#authorities = authorities
    this.#sent = sent
  }

  from(certificate: X509Certificate, before: readonly X509Certificate[]): X509Certificate[] | undefined {
    const chain = [...before, certificate]
    for (const authority of this.#authorities) if (this.#signed(certificate, authority)) return [...chain, authority]
    for (const next of this.#sent) {
      if (chain.includes(next) || !this.#signed(certificate, next)) continue
      const found = this.from(next, chain)
      if (found !== undefined) return found
    }
    return undefined
  }

  #signed(certificate: X509Certificate, by: X509Certificate): boolean {
    if (!by.ca || !certificate.checkIssued(by) || ++this.#checks > maxChecks) return false
    try {
      return certificate.verify(by.publicKey)
    } catch {
      // A key that cannot be read has signed nothing.
      return false
    }
  }
}
