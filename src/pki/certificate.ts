/**
 * Issues X.509 certificates as RFC 5280 wants them. The ASN.1 library is loaded at the first one, as most starts make
 * none.
 */
import { X509Certificate } from 'node:crypto'
import { assertConsistent, type CertificateTemplate } from './certificate-template.ts'

/** The certificate as PEM. Throws when the template contradicts itself. */
export async function issueCertificate(template: CertificateTemplate): Promise<string> {
  assertConsistent(template)
  const { encodeCertificate } = await import('./certificate-encoding.ts')
  return new X509Certificate(encodeCertificate(template)).toString()
}
