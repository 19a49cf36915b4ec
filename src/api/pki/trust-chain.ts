/**
 * Finds the CA that issued a certificate, through the intermediate certificates that the client sent. TLS has already
 * verified the certificate as a whole (constraints, usages, algorithms). This code determines which of several CAs
 * issued the certificate and how long the chain is valid, because TLS does not report either.
 *
 * The number of checks is bounded: otherwise, a client could send certificates that all seem to have signed one
 * another, and every path through them would cost a signature check.
 */
import type { X509Certificate } from 'node:crypto'

/** A certificate chain that ends at a trusted CA, with its validity. */
export interface Chain {
  /** The chain, from the client's certificate to the CA. */
  readonly certificates: readonly X509Certificate[]
  /** Start of the period in which all certificates of the chain are valid. */
  readonly from: number
  readonly to: number
  /** Lifetime of the client's certificate in milliseconds. */
  readonly lifetime: number
}

const maxSent = 10
const maxChecks = 50

/** Finds the chain from a certificate to a CA. Returns undefined if there is no chain. */
export function chainTo(
  authorities: readonly X509Certificate[],
  certificate: X509Certificate,
  intermediates: readonly X509Certificate[],
): Chain | undefined {
  const chain = new Search(authorities, intermediates.slice(0, maxSent)).from(certificate, [])
  if (chain === undefined) return undefined
  const from = chain.map((each) => each.validFromDate.getTime())
  const to = chain.map((each) => each.validToDate.getTime())
  return { certificates: chain, from: Math.max(...from), to: Math.min(...to), lifetime: to[0]! - from[0]! }
}

class Search {
  readonly #authorities: readonly X509Certificate[]
  readonly #intermediates: readonly X509Certificate[]
  #checks = 0

  constructor(authorities: readonly X509Certificate[], intermediates: readonly X509Certificate[]) {
    this.#authorities = authorities
    this.#intermediates = intermediates
  }

  from(certificate: X509Certificate, before: readonly X509Certificate[]): X509Certificate[] | undefined {
    const chain = [...before, certificate]
    for (const authority of this.#authorities) if (this.#signed(certificate, authority)) return [...chain, authority]
    for (const next of this.#intermediates) {
      if (chain.includes(next) || !this.#signed(certificate, next)) continue
      const completeChain = this.from(next, chain)
      if (completeChain !== undefined) return completeChain
    }
    return undefined
  }

  #signed(certificate: X509Certificate, by: X509Certificate): boolean {
    if (!by.ca || !certificate.checkIssued(by) || ++this.#checks > maxChecks) return false
    try {
      return certificate.verify(by.publicKey)
    } catch {
      // A certificate with an unreadable key cannot be the issuer of another certificate.
      return false
    }
  }
}
