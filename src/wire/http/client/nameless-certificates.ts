/**
 * Verifies servers whose certificate has neither a subject nor an issuer. Some certificate tools for webhooks create
 * such certificates, with names only in the subjectAltName extension. OpenSSL treats these certificates as self-signed
 * and rejects them. This verifier accepts a certificate that one of the given CAs has signed. It checks the signature,
 * validity period, purpose and name before the connection is used, so no data reaches an untrusted server. Chains of
 * multiple nameless certificates are not supported.
 */
import { X509Certificate } from 'node:crypto'
import { type ConnectionOptions, checkServerIdentity, type TLSSocket } from 'node:tls'
import { selfSigned } from './call-error.ts'
import type { ServerVerifier } from './open-connection.ts'

const serverPurposes = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']
const certificateForm = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** Returns a verifier that trusts these CA certificates, which must be in PEM format. */
export function namelessCertificateVerifier(authority: string): ServerVerifier {
  const authorities = (authority.match(certificateForm) ?? []).map((pem) => new X509Certificate(pem))
  return (socket, options) => (socket.authorized ? undefined : faultOf(socket, options, authorities))
}

function faultOf(
  socket: TLSSocket,
  { servername, host }: ConnectionOptions,
  authorities: readonly X509Certificate[],
): Error | undefined {
  const fault = socket.authorizationError
  const certificate = socket.getPeerX509Certificate()
  if ((fault as unknown) !== selfSigned || certificate === undefined || !isVouchedFor(certificate, authorities))
    return Object.assign(new Error('the certificate is not trusted'), { code: String(fault) })
  return checkServerIdentity(servername || host || '', socket.getPeerCertificate())
}

function isVouchedFor(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  const purposes = certificate.keyUsage as readonly string[] | undefined
  return (
    isNameless(certificate) &&
    isCurrent(certificate) &&
    (purposes === undefined || purposes.some((purpose) => serverPurposes.includes(purpose))) &&
    authorities.some(
      (authority) =>
        authority.ca &&
        isCurrent(authority) &&
        certificate.checkIssued(authority) &&
        certificate.verify(authority.publicKey),
    )
  )
}

function isNameless({ subject, issuer }: X509Certificate): boolean {
  return !subject && !issuer
}

function isCurrent({ validFromDate, validToDate }: X509Certificate): boolean {
  const now = Date.now()
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}
