/** Decodes the content of a certificate signing request and formats it so that it is safe to print. */
import type { CertificateSigningRequest } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { type CertificateRequest, readCertificateRequest } from '../../../api/pki/certificate-request.ts'
import { MalformedInput } from '../../../api/pki/malformed-input.ts'

/** Returns the decoded request, or the reason why the request is malformed. */
export function decodeRequest({ spec }: Pick<CertificateSigningRequest, 'spec'>): CertificateRequest | MalformedInput {
  try {
    return readCertificateRequest(Buffer.from(spec?.request ?? '', 'base64'))
  } catch (error) {
    if (error instanceof MalformedInput) return error
    throw error
  }
}

/** Quotes untrusted text and escapes control characters. */
export function quoted(texts: readonly string[]): string {
  return texts.map((text) => (/^[\x20-\x7e]*$/.test(text) ? text : JSON.stringify(text))).join(', ')
}

/** Returns the key type and size, for example `rsa, 2048 bits`. */
export function keyText({ publicKey }: CertificateRequest): string {
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: details = {} } = publicKey
  const size = details.modulusLength === undefined ? details.namedCurve : `${details.modulusLength} bits`
  return size === undefined ? type : `${type}, ${size}`
}
