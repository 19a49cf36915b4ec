/**
 * Signs certificate requests. Subject, names and key are taken from the request, and usages from the caller. No other
 * part of the request is copied, so no request can obtain the CA bit. `built-in-signers.ts` decides who may get which
 * certificate.
 *
 * The validity of a certificate starts five minutes in the past, for machines whose clocks are behind. These five
 * minutes are part of its lifetime. If the lifetime is shorter than eight hours, they are added to the lifetime
 * instead.
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
  /** Lifetime of the certificate in milliseconds. */
  readonly lifeMs: number
  readonly now: number
}

const backdateMs = 5 * 60_000
const shortMs = 8 * 3_600_000

/**
 * Signs a request and returns the certificate as PEM. Throws an error if the issuer has expired or a usage is unknown.
 */
export function signRequest({ request, usages, issuer, lifeMs, now }: SigningOrder): string {
  const issuerEnd = new X509Certificate(issuer.certificate).validToDate.getTime()
  if (now >= issuerEnd) throw new Error(`the CA expired at ${new Date(issuerEnd).toISOString()}`)
  const requestedEnd = now + (lifeMs < shortMs ? lifeMs : lifeMs - backdateMs)
  return signContent({
    subject: request.subjectName,
    names: requestedNames(request).der,
    publicKey: request.publicKey,
    usages: usages.map(knownUsage),
    issuer,
    notBefore: now - backdateMs,
    // A certificate must not outlive the CA that signed it.
    notAfter: Math.min(requestedEnd, issuerEnd),
  })
}

function knownUsage(usage: string): Usage {
  if (Object.hasOwn(usageTable, usage)) return usage as Usage
  throw new Error(`unknown usage ${JSON.stringify(usage)}`)
}
