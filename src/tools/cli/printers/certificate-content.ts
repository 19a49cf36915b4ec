/** What a certificate request asks for, decoded, in words that are safe to print. */
import type { CertificateSigningRequest } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { type CertificateRequest, readCertificateRequest } from '../../../api/pki/certificate-request.ts'
import { MalformedInput } from '../../../api/pki/malformed-input.ts'

/** The request inside the object, or why it cannot be read. */
export function decodeRequest({ spec }: Pick<CertificateSigningRequest, 'spec'>): CertificateRequest | MalformedInput {
  try {
    return readCertificateRequest(Buffer.from(spec?.request ?? '', 'base64'))
  } catch (error) {
    if (error instanceof MalformedInput) return error
    throw error
  }
}

/** What strangers wrote: characters that steer terminals are shown as what they are. */
export function quoted(texts: readonly string[]): string {
  return texts.map((text) => (/^[\x20-\x7e]*$/.test(text) ? text : JSON.stringify(text))).join(', ')
}

/** The sort of key and its size: `rsa, 2048 bits`. */
export function keyText({ publicKey }: CertificateRequest): string {
  const { asymmetricKeyType: type = '', asymmetricKeyDetails: details = {} } = publicKey
  const size = details.modulusLength === undefined ? details.namedCurve : `${details.modulusLength} bits`
  return size === undefined ? type : `${type}, ${size}`
}
