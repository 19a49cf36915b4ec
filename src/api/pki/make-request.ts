/** Creates certificate requests (PKCS#10) for clients that join a cluster. */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { CertificateSubject } from './certificate-template.ts'
import { tags } from './der.ts'
import { bitString, element, identifier, sequence } from './encode-der.ts'
import { type AlternativeNames, alternativeNames } from './names.ts'
import { schemeOfKey } from './signature-scheme.ts'
import { writeName } from './write-name.ts'

const extensionRequestId = '2a864886f70d01090e'
const alternativeNamesId = '551d11'
const version1 = element(tags.integer, Buffer.from([0]))

/** Returns a request as PEM, signed with the key for which the certificate is requested. */
export function makeRequest(subject: CertificateSubject, key: KeyObject, names?: AlternativeNames): string {
  const scheme = schemeOfKey(key)
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const content = sequence(version1, writeName(subject), publicKey, element(0xa0, ...attributesOf(names)))
  return pem(sequence(content, scheme.identifier, bitString(sign(scheme.hash, content, key))))
}

function attributesOf(names: AlternativeNames = { dns: [], ips: [] }): Buffer[] {
  const all = alternativeNames(names)
  if (all.length === 0) return []
  const extension = sequence(identifier(alternativeNamesId), element(tags.octetString, sequence(...all)))
  return [sequence(identifier(extensionRequestId), element(tags.set, sequence(extension)))]
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n')
}
