/**
 * Signs certificate requests: subject, names and key are those of the request, usages are those of the caller, and
 * nothing else of the request is copied. In particular no request gets the CA bit. The rules on who may get what are in
 * `built-in-signers.ts`.
 *
 * A certificate is valid from five minutes ago, for machines whose clocks are late. Those five minutes come out of its
 * life, unless that is shorter than eight hours: then they are added to it.
 */
import { X509Certificate } from 'node:crypto'
import { signContent } from './certificate.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { type Issuer, type Usage, usageTable } from './certificate-template.ts'
import { requestedNames } from './requested-names.ts'

export interface SigningOrder {
  readonly request: CertificateRequest
  readonly usages: readonly string[]
  readonly issuer: Issuer
  /** How long the certificate is to be valid. */
  readonly lifeMs: number
  readonly now: number
}

const backdateMs = 5 * 60_000
const shortMs = 8 * 3_600_000

/** The certificate as PEM. Throws where the issuer has expired, or a usage is not known. */
export function signRequest({ request, usages, issuer, lifeMs, now }: SigningOrder): string {
  const issuerEnd = new X509Certificate(issuer.certificate).validToDate.getTime()
  if (now >= issuerEnd) throw new Error(`the CA expired at ${new Date(issuerEnd).toISOString()}`)
  const wanted = now + (lifeMs < shortMs ? lifeMs : lifeMs - backdateMs)
  return signContent({
    subject: request.subjectName,
    names: requestedNames(request).der,
    publicKey: request.publicKey,
    usages: usages.map(knownUsage),
    issuer,
    notBefore: now - backdateMs,
    // A certificate does not outlive the authority that signed it.
    notAfter: Math.min(wanted, issuerEnd),
  })
}

function knownUsage(usage: string): Usage {
  if (Object.hasOwn(usageTable, usage)) return usage as Usage
  throw new Error(`there is no usage ${JSON.stringify(usage)}`)
}
