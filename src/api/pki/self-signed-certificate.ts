/** A self-signed serving certificate that a process creates at startup, for ports that need no trusted certificate. */
import type { CertifiedKey } from './authority.ts'
import { issueCertificate } from './certificate.ts'
import { generateKey, keyToPem, publicKeyOf } from './keys.ts'
import type { AlternativeNames } from './names.ts'

const dayMs = 24 * 60 * 60 * 1000

/** Creates a key and a self-signed certificate. */
export function selfSignedCertificate(commonName: string, names: AlternativeNames, now: number): CertifiedKey {
  const key = generateKey()
  const certificate = issueCertificate({
    subject: { commonName, organizations: [] },
    publicKey: publicKeyOf(key),
    names,
    issuer: { certificate: 'self', key },
    usages: ['digital signature', 'server auth'],
    notBefore: now - dayMs,
    notAfter: now + 365 * dayMs,
  })
  return { certificate, key: keyToPem(key) }
}
