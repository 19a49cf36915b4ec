/**
 * Issues X.509 certificates as RFC 5280 wants them: version 3 with key identifiers, critical basic constraints and key
 * usage, signed with ECDSA and SHA-256.
 */
import { createHash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import {
  assertConsistent,
  type CertificateSubject,
  type CertificateTemplate,
  type Usage,
  usageTable,
} from './certificate-template.ts'
import { readWhole, tags } from './der.ts'
import { bitString, element, identifier, namedBits, sequence, text, time } from './der-writing.ts'
import { isP256 } from './keys.ts'
import { type AlternativeNames, alternativeNames } from './names.ts'
import { extensionOf, subjectOf } from './tbs.ts'

/** Object identifiers, by their DER content in hexadecimal. */
const ids = {
  commonName: '550403',
  organization: '55040a',
  ecdsaWithSha256: '2a8648ce3d040302',
  subjectKeyId: '551d0e',
  keyUsage: '551d0f',
  alternativeNames: '551d11',
  basicConstraints: '551d13',
  authorityKeyId: '551d23',
  purposes: '551d25',
}

const version3 = element(0xa0, element(tags.integer, Buffer.from([2])))
const algorithm = sequence(identifier(ids.ecdsaWithSha256))
const yes = element(tags.boolean, Buffer.from([0xff]))

/** The certificate as PEM. Throws when the template contradicts itself. */
export function issueCertificate(template: CertificateTemplate): string {
  assertConsistent(template)
  const unsigned = unsignedOf(template)
  const signature = sign('sha256', unsigned, template.issuer.key)
  return new X509Certificate(sequence(unsigned, algorithm, bitString(signature))).toString()
}

function unsignedOf(template: CertificateTemplate): Buffer {
  const subject = nameOf(template.subject)
  const signer = signerOf(template, subject)
  return sequence(
    version3,
    element(tags.integer, template.serial ?? randomSerial(template.random ?? randomBytes)),
    algorithm,
    signer.name,
    sequence(time(template.notBefore), time(template.notAfter)),
    subject,
    spkiOf(template.publicKey),
    element(0xa3, sequence(...extensionsOf(template, signer.keyId))),
  )
}

// 128 bits that start with 01: positive, never shorter, and 126 of them random.
function randomSerial(random: (size: number) => Buffer): Buffer {
  const serial = Buffer.from(random(16))
  serial[0] = ((serial[0] as number) & 0x3f) | 0x40
  return serial
}

function nameOf({ commonName, organizations }: CertificateSubject): Buffer {
  const part = (id: string, value: string) => element(tags.set, sequence(identifier(id), text(value)))
  return sequence(...organizations.map((each) => part(ids.organization, each)), part(ids.commonName, commonName))
}

/** The name and key identifier of the issuer, as its own certificate spells them. */
function signerOf({ issuer, publicKey }: CertificateTemplate, ownName: Buffer): { name: Buffer; keyId: Buffer } {
  if (issuer.certificate === 'self') return { name: ownName, keyId: keyIdOf(publicKey) }
  const { raw, publicKey: issuerKey } = new X509Certificate(issuer.certificate)
  const own = extensionOf(raw, Buffer.from(ids.subjectKeyId, 'hex'))
  const keyId = own === undefined ? keyIdOf(issuerKey) : readWhole(own, tags.octetString).content
  return { name: subjectOf(raw).whole, keyId }
}

/** RFC 7093, method 1: the first 160 bits of SHA-256 over the bits of the public key. */
function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha256').update(publicKeyBits(publicKey)).digest().subarray(0, 20)
}

// A P-256 point is the last 65 bytes of its SubjectPublicKeyInfo; for other keys the whole of it identifies as well.
function publicKeyBits(publicKey: KeyObject): Buffer {
  const spki = spkiOf(publicKey)
  return isP256(publicKey) ? spki.subarray(-65) : spki
}

function spkiOf(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' })
}

function extensionsOf({ authority = false, publicKey, usages, names }: CertificateTemplate, issuerKeyId: Buffer) {
  const noneBelow = element(tags.integer, Buffer.from([0]))
  return [
    critical(ids.basicConstraints, authority ? sequence(yes, noneBelow) : sequence()),
    ...usageExtensions(usages),
    extension(ids.subjectKeyId, element(tags.octetString, keyIdOf(publicKey))),
    extension(ids.authorityKeyId, sequence(element(0x80, issuerKeyId))),
    ...nameExtensions(names ?? { dns: [], ips: [] }),
  ]
}

function usageExtensions(usages: readonly Usage[]): Buffer[] {
  const rows = [...new Set(usages)].map((usage) => usageTable[usage])
  const bits = rows.flatMap((row) => ('bit' in row ? [row.bit] : []))
  const purposes = rows.flatMap((row) => ('purpose' in row ? [identifier(row.purpose)] : []))
  return [
    ...(bits.length > 0 ? [critical(ids.keyUsage, namedBits(bits))] : []),
    ...(purposes.length > 0 ? [extension(ids.purposes, sequence(...purposes))] : []),
  ]
}

function nameExtensions(names: AlternativeNames): Buffer[] {
  const all = alternativeNames(names)
  return all.length > 0 ? [extension(ids.alternativeNames, sequence(...all))] : []
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), element(tags.octetString, value))
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(identifier(id), yes, element(tags.octetString, value))
}
