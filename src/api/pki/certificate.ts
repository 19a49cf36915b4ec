/**
 * Issues X.509 certificates according to RFC 5280. The certificates have version 3, key identifiers, critical basic
 * constraints and a key usage, and are signed with SHA-2 and an issuer key of any type. `issueCertificate` uses a
 * template. `signContent` is for certificates whose subject and names are already encoded in DER.
 */
import { createHash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import {
  assertConsistent,
  type CertificateTemplate,
  type Issuer,
  type Usage,
  usageTable,
} from './certificate-template.ts'
import { readWhole, tags } from './der.ts'
import { bitString, element, identifier, namedBits, sequence, time } from './encode-der.ts'
import { isP256 } from './keys.ts'
import { alternativeNames } from './names.ts'
import { type SignatureScheme, schemeOfKey } from './signature-scheme.ts'
import { extensionOf, subjectOf } from './tbs.ts'
import { writeName } from './write-name.ts'

/** Object identifiers of certificate extensions, as their DER content in hexadecimal. */
const ids = {
  subjectKeyId: '551d0e',
  keyUsage: '551d0f',
  alternativeNames: '551d11',
  basicConstraints: '551d13',
  authorityKeyId: '551d23',
  purposes: '551d25',
}

const version3 = element(0xa0, element(tags.integer, Buffer.from([2])))
const yes = element(tags.boolean, Buffer.from([0xff]))

/** Issues a certificate and returns it as PEM. Throws an error if the template is inconsistent. */
export function issueCertificate(template: CertificateTemplate): string {
  assertConsistent(template)
  const { subject, names = { dns: [], ips: [] }, ...rest } = template
  return signContent({ ...rest, subject: writeName(subject), names: alternativeNames(names) })
}

/** The content of a certificate whose subject and names are already encoded in DER. */
export interface CertificateContent extends Omit<CertificateTemplate, 'subject' | 'names'> {
  /** Distinguished name of the subject in DER. */
  readonly subject: Buffer
  /** Subject alternative names, each as a GeneralName in DER. */
  readonly names: readonly Buffer[]
}

/** Signs a certificate and returns it as PEM. */
export function signContent(content: CertificateContent): string {
  const scheme = schemeOfKey(content.issuer.key)
  const unsigned = unsignedOf(content, scheme)
  const signature = sign(scheme.hash, unsigned, content.issuer.key)
  return new X509Certificate(sequence(unsigned, scheme.identifier, bitString(signature))).toString()
}

function unsignedOf(content: CertificateContent, scheme: SignatureScheme): Buffer {
  const signer = signerOf(content)
  return sequence(
    version3,
    element(tags.integer, content.serial ?? randomSerial(content.random ?? randomBytes)),
    scheme.identifier,
    signer.name,
    sequence(time(content.notBefore), time(content.notAfter)),
    content.subject,
    spkiOf(content.publicKey),
    element(0xa3, sequence(...extensionsOf(content, signer.keyId))),
  )
}

// Returns a random serial number of 128 bits. The number starts with the bits 01, so that it is positive and has a
// constant length. The other 126 bits are random.
function randomSerial(random: (size: number) => Buffer): Buffer {
  const serial = Buffer.from(random(16))
  serial[0] = ((serial[0] as number) & 0x3f) | 0x40
  return serial
}

/** The name and key identifier of each issuer. They are cached because an issuer signs many certificates. */
const signers = new WeakMap<Issuer, { name: Buffer; keyId: Buffer }>()

/** Returns the name and key identifier of the issuer, as they appear in the issuer's own certificate. */
function signerOf({ issuer, subject, publicKey }: CertificateContent): { name: Buffer; keyId: Buffer } {
  if (issuer.certificate === 'self') return { name: subject, keyId: keyIdOf(publicKey) }
  const cachedSigner = signers.get(issuer)
  if (cachedSigner !== undefined) return cachedSigner
  const { raw, publicKey: issuerKey } = new X509Certificate(issuer.certificate)
  const own = extensionOf(raw, Buffer.from(ids.subjectKeyId, 'hex'))
  const keyId = own === undefined ? keyIdOf(issuerKey) : readWhole(own, tags.octetString).content
  const signer = { name: subjectOf(raw).whole, keyId }
  signers.set(issuer, signer)
  return signer
}

/**
 * Returns the identifier of a key: the first 160 bits of the SHA-256 hash of the public key's bits (RFC 7093, method
 * 1).
 */
function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha256').update(publicKeyBits(publicKey)).digest().subarray(0, 20)
}

// Returns the bits that identify a public key. A P-256 point is the last 65 bytes of its SubjectPublicKeyInfo. For
// other keys, the whole structure is used.
function publicKeyBits(publicKey: KeyObject): Buffer {
  const spki = spkiOf(publicKey)
  return isP256(publicKey) ? spki.subarray(-65) : spki
}

function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' })
}

function extensionsOf(content: CertificateContent, issuerKeyId: Buffer) {
  const { authority = false, publicKey, usages, names, subject } = content
  const noneBelow = element(tags.integer, Buffer.from([0]))
  // If the subject is empty, the alternative names are critical (RFC 5280, 4.2.1.6).
  const asNames = subject.length === 2 ? critical : extension
  return [
    critical(ids.basicConstraints, authority ? sequence(yes, noneBelow) : sequence()),
    ...usageExtensions(usages),
    extension(ids.subjectKeyId, element(tags.octetString, keyIdOf(publicKey))),
    extension(ids.authorityKeyId, sequence(element(0x80, issuerKeyId))),
    ...(names.length > 0 ? [asNames(ids.alternativeNames, sequence(...names))] : []),
  ]
}

function usageExtensions(usages: readonly Usage[]): Buffer[] {
  const rows = [...new Set(usages)].map((usage) => usageTable[usage])
  const bits = rows.flatMap((row) => ('bit' in row ? [row.bit] : []))
  const purposes = new Set(rows.flatMap((row) => ('purpose' in row ? [row.purpose] : [])))
  return [
    ...(bits.length > 0 ? [critical(ids.keyUsage, namedBits(bits))] : []),
    ...(purposes.size > 0 ? [extension(ids.purposes, sequence(...[...purposes].sort().map(identifier)))] : []),
  ]
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), element(tags.octetString, value))
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), yes, element(tags.octetString, value))
}
