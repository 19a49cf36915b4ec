/** Issues certificates with a server's own CA for any subject. They are valid for clients and servers for one hour. */
import type { CertifiedKey } from '../../src/api/pki/authority.ts'
import { issueCertificate } from '../../src/api/pki/certificate.ts'
import { generateKey, keyFromPem, keyToPem, publicKeyOf } from '../../src/api/pki/keys.ts'

export interface Wish {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly dns?: readonly string[]
  readonly ips?: readonly string[]
}

const hour = 60 * 60 * 1000

export function issuePair(
  authority: CertifiedKey,
  { commonName, organizations = [], dns = [], ips = [] }: Wish,
): CertifiedKey {
  const key = generateKey()
  const certificate = issueCertificate({
    subject: { commonName, organizations },
    publicKey: publicKeyOf(key),
    names: { dns, ips },
    issuer: { certificate: authority.certificate, key: keyFromPem(authority.key) },
    usages: ['digital signature', 'client auth', 'server auth'],
    notBefore: Date.now() - hour,
    notAfter: Date.now() + hour,
  })
  return { certificate, key: keyToPem(key) }
}
