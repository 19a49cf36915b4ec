/**
 * Client certificates: the common name is the user name, and each organization is a group. Since Kubernetes 1.33, the
 * subject may also contain the UID of the user. A certificate with several common names or UIDs is rejected.
 *
 * Connections can outlive certificates and CAs. Every request therefore checks that the certificate still chains to a
 * current CA, that all certificates of the chain are currently valid, and that none of them is denied.
 */
import type { X509Certificate } from 'node:crypto'
import type { User } from '../../api/model/user.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import { MalformedDer } from '../../api/pki/der.ts'
import { readSubject, readUserIds, type Subject } from '../../api/pki/identity.ts'
import { type Chain, chainTo } from '../../api/pki/trust-chain.ts'
import type { Emulation } from '../../api/versions/availability.ts'
import { isAtLeast } from '../../api/versions/emulated-version.ts'
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
import type { MultipleCommonNames } from './multiple-common-names.ts'

export interface CertificateParts {
  /** Returns the current CAs. The array is replaced when the CAs change. */
  readonly authorities: () => readonly X509Certificate[]
  readonly denied: DeniedCertificates
  /**
   * Whether a certificate is reserved for calls from API servers to node agents. Such a certificate authenticates no
   * user.
   */
  readonly isNodeClient: (certificate: X509Certificate) => boolean
  readonly severalNames: MultipleCommonNames
  readonly clock: Clock
}

/**
 * The rules for deriving a user from the subject of a certificate. The rules depend on the vendor and the Kubernetes
 * version.
 */
export interface CertificateUsers {
  readonly vendor: Vendor
  readonly emulation: Emulation
}

/** Authenticates with client certificates signed by a trusted CA. */
export function clientCertificates(parts: CertificateParts & CertificateUsers): Authenticator {
  const chains = new Chains(parts)
  const users = new WeakMap<X509Certificate, User | AuthenticationOutcome>()
  return ({ certificate }) => {
    if (certificate === undefined) return none
    const chain = chains.of(certificate)
    if (chain === undefined) return refused
    const { x509 } = certificate
    if (!users.has(x509)) users.set(x509, userOf(x509, parts))
    const user = users.get(x509)!
    if ('result' in user) return user
    const warning = expiryWarning(chain, parts.clock.now())
    return warning === undefined ? { result: 'user', user } : { result: 'user', user, warning }
  }
}

const day = 24 * 60 * 60 * 1000

/**
 * Returns a warning if the certificate is in the last tenth of its lifetime and expires within two weeks. Automatic
 * renewal happens before that.
 */
function expiryWarning({ to, lifetime }: Chain, now: number): string | undefined {
  if (to - now > Math.min(lifetime / 10, 14 * day)) return undefined
  return `the client certificate expires at ${new Date(to).toISOString()}: renew it`
}

/** Returns the parsed subject of a certificate, or an empty subject if it cannot be parsed. */
export const subjectOf = memoizeByObject(({ raw }: X509Certificate): Subject => {
  try {
    return readSubject(raw)
  } catch (error) {
    if (error instanceof MalformedDer) return { commonNames: [], organizations: [] }
    throw error
  }
})

function userOf(
  x509: X509Certificate,
  { severalNames, vendor, emulation }: CertificateUsers & { readonly severalNames: MultipleCommonNames },
): User | AuthenticationOutcome {
  const { commonNames, organizations } = subjectOf(x509)
  if (commonNames.length > 1) return severalNames.refuse(x509)
  const [name] = commonNames
  const uid = emulation.gates.has('AllowParsingUserUIDFromCertAuth') ? uidOf(x509) : ''
  if (!name || uid === undefined) return refused
  const extra = new Map<string, readonly string[]>()
  if (isAtLeast(emulation.version, '1.32')) {
    const fingerprint = x509.fingerprint256.replaceAll(':', '').toLowerCase()
    extra.set(vendorKey(vendor, 'credential-id', 'authentication'), [`X509SHA256=${fingerprint}`])
  }
  return { name, uid, groups: organizations, extra }
}

/**
 * Returns the UID in a certificate, or an empty string if there is none. Returns undefined if the subject has several
 * UIDs or an invalid UID.
 */
function uidOf({ raw }: X509Certificate): string | undefined {
  try {
    const uids = readUserIds(raw)
    return uids.length > 1 || uids[0] === '' ? undefined : (uids[0] ?? '')
  } catch (error) {
    if (error instanceof MalformedDer) return undefined
    throw error
  }
}

/** Certificate chains, cached until the CAs change. */
export class Chains {
  readonly #parts: CertificateParts
  #found = new WeakMap<X509Certificate, { readonly chain: Chain | undefined }>()
  #authorities: readonly X509Certificate[] = []

  constructor(parts: CertificateParts) {
    this.#parts = parts
  }

  /**
   * Returns the chain of a certificate, or undefined if the certificate does not chain to a CA or is not currently
   * valid.
   */
  of({ x509, intermediates, trusted }: ShownCertificate): Chain | undefined {
    if (!trusted) return undefined
    const { authorities, denied, clock } = this.#parts
    if (authorities() !== this.#authorities) {
      this.#authorities = authorities()
      this.#found = new WeakMap()
    }
    let cachedChain = this.#found.get(x509)
    if (cachedChain === undefined) {
      cachedChain = { chain: chainTo(this.#authorities, x509, intermediates) }
      this.#found.set(x509, cachedChain)
    }
    const { chain } = cachedChain
    const now = clock.now()
    if (chain === undefined || now < chain.from || now > chain.to) return undefined
    if (this.#parts.isNodeClient(x509)) return undefined
    return chain.certificates.some((each) => denied.has(each)) ? undefined : chain
  }
}
