/**
 * Client certificates: the common name is the user, each organization a group. A certificate with several common names
 * names nobody.
 *
 * Connections outlive certificates and authorities. So each request asks again whether the certificate leads back to an
 * authority that counts now, whether all on the way are valid now, and whether one of them is denied.
 */
import type { X509Certificate } from 'node:crypto'
import type { User } from '../../api/model/user.ts'
import { MalformedDer } from '../../api/pki/der.ts'
import { readSubject, type Subject } from '../../api/pki/identity.ts'
import { type Chain, chainTo } from '../../api/pki/trust-chain.ts'
import { memoizeByObject } from '../../base/collections/memoize-by-object.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  type AuthenticationOutcome,
  type Authenticator,
  none,
  refused,
  type ShownCertificate,
} from './authenticator.ts'
import type { DeniedCertificates } from './denied-certificates.ts'
import type { SeveralNames } from './several-names.ts'

export interface CertificateParts {
  /** The authorities that count now; another array when they are others. */
  readonly authorities: () => readonly X509Certificate[]
  readonly denied: DeniedCertificates
  /** Whether an API server calls node agents with this certificate. Such a certificate authenticates nobody. */
  readonly isNodeClient: (certificate: X509Certificate) => boolean
  readonly severalNames: SeveralNames
  readonly clock: Clock
}

/** Authenticates by a client certificate that a trusted authority signed. */
export function clientCertificates(parts: CertificateParts): Authenticator {
  const chains = new Chains(parts)
  const users = new WeakMap<X509Certificate, User | AuthenticationOutcome>()
  return ({ certificate }) => {
    if (certificate === undefined) return none
    const chain = chains.of(certificate)
    if (chain === undefined) return refused
    const { x509 } = certificate
    if (!users.has(x509)) users.set(x509, userOf(x509, parts.severalNames))
    const user = users.get(x509)!
    if ('result' in user) return user
    const warning = expiryWarning(chain, parts.clock.now())
    return warning === undefined ? { result: 'user', user } : { result: 'user', user, warning }
  }
}

const day = 24 * 60 * 60 * 1000

/** In the last tenth of its life, and two weeks at most: automatic renewal has happened by then. */
function expiryWarning({ to, lifetime }: Chain, now: number): string | undefined {
  if (to - now > Math.min(lifetime / 10, 14 * day)) return undefined
  return `the client certificate expires at ${new Date(to).toISOString()}: renew it`
}

/** The user that a certificate names; none where its subject cannot be read. */
export const subjectOf = memoizeByObject(({ raw }: X509Certificate): Subject => {
  try {
    return readSubject(raw)
  } catch (error) {
    if (error instanceof MalformedDer) return { commonNames: [], organizations: [] }
    throw error
  }
})

function userOf(x509: X509Certificate, severalNames: SeveralNames): User | AuthenticationOutcome {
  const { commonNames, organizations } = subjectOf(x509)
  if (commonNames.length > 1) return severalNames.refuse(x509)
  const [name] = commonNames
  return name ? { name, uid: '', groups: organizations, extra: new Map() } : refused
}

/** The chains of the certificates that are shown, each found once for as long as the authorities stay the same. */
export class Chains {
  readonly #parts: CertificateParts
  #found = new WeakMap<X509Certificate, { readonly chain: Chain | undefined }>()
  #authorities: readonly X509Certificate[] = []

  constructor(parts: CertificateParts) {
    this.#parts = parts
  }

  /** Undefined where the certificate leads to no authority, or does not count now. */
  of({ x509, sent, trusted }: ShownCertificate): Chain | undefined {
    if (!trusted) return undefined
    const { authorities, denied, clock } = this.#parts
    if (authorities() !== this.#authorities) {
      this.#authorities = authorities()
      this.#found = new WeakMap()
    }
    let found = this.#found.get(x509)
    if (found === undefined) {
      found = { chain: chainTo(this.#authorities, x509, sent) }
      this.#found.set(x509, found)
    }
    const { chain } = found
    const now = clock.now()
    if (chain === undefined || now < chain.from || now > chain.to) return undefined
    if (this.#parts.isNodeClient(x509)) return undefined
    return chain.certificates.some((each) => denied.has(each)) ? undefined : chain
  }
}
