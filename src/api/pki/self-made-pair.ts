/** A serving certificate that a process makes for itself at its start, and signs itself: for ports of little weight. */
import type { CertifiedKey } from './authority.ts'
import { issueCertificate } from './certificate.ts'
import { generateKey, keyToPem, publicKeyOf } from './keys.ts'
import type { AlternativeNames } from './names.ts'

const dayMs = 24 * 60 * 60 * 1000

/** A key and a certificate that it has signed itself. */
export function selfMadePair(commonName: string, names: AlternativeNames, now: number): CertifiedKey {
  const key = generateKey()
  const certificate = issueCertificate({
    ...{ subject: { commonName, organizations: [] }, publicKey: publicKeyOf(key), names },
    ...{ issuer: { certificate: 'self', key }, usages: ['digital signature', 'server auth'] },
    ...{ notBefore: now - dayMs, notAfter: now + 365 * dayMs },
  })
  return { certificate, key: keyToPem(key) }
}
