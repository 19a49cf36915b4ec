/**
 * Turns a checked template into a signed certificate, in DER: X.509 version 3 with key identifiers, critical basic
 * constraints and key usage, signed with ECDSA and SHA-256. This is the only file that needs the ASN.1 library, so it
 * is itself imported only when a certificate is made.
 */
import { createHash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyIdentifier,
  KeyUsage,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'
import { type CertificateSubject, type CertificateTemplate, type Usage, usageTable } from './certificate-template.ts'
import { isP256 } from './keys.ts'
import { type AlternativeNames, canonicalNames } from './names.ts'

const ecdsaWithSha256 = '1.2.840.10045.4.3.2'
const oids = { commonName: '2.5.4.3', organization: '2.5.4.10' }

export function encodeCertificate(template: CertificateTemplate): Buffer {
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 })
  const tbsCertificate = unsigned(template, signatureAlgorithm)
  const signed = Buffer.from(AsnConvert.serialize(tbsCertificate))
  const signatureValue = arrayBuffer(sign('sha256', signed, template.issuer.key))
  return Buffer.from(AsnConvert.serialize(new Certificate({ tbsCertificate, signatureAlgorithm, signatureValue })))
}

function unsigned(template: CertificateTemplate, signature: AlgorithmIdentifier): TBSCertificate {
  const subject = nameOf(template.subject)
  const signer = signerOf(template, subject)
  return new TBSCertificate({
    version: Version.v3,
    serialNumber: arrayBuffer(template.serial ?? randomSerial(template.random ?? randomBytes)),
    signature,
    issuer: signer.name,
    validity: new Validity({ notBefore: new Date(template.notBefore), notAfter: new Date(template.notAfter) }),
    subject,
    subjectPublicKeyInfo: AsnConvert.parse(spkiOf(template.publicKey), SubjectPublicKeyInfo),
    extensions: new Extensions(extensionsOf(template, signer.keyId)),
  })
}

// 128 bits that start with 01: positive, never shorter, and 126 of them random.
function randomSerial(random: (size: number) => Buffer): Buffer {
  const serial = Buffer.from(random(16))
  serial[0] = ((serial[0] as number) & 0x3f) | 0x40
  return serial
}

function nameOf({ commonName, organizations }: CertificateSubject): Name {
  return new Name([...organizations.map((o) => part(oids.organization, o)), part(oids.commonName, commonName)])
}

function part(type: string, utf8String: string): RelativeDistinguishedName {
  const value = new AttributeValue({ utf8String })
  return new RelativeDistinguishedName([new AttributeTypeAndValue({ type, value })])
}

/** The name and key identifier of the issuer, as its own certificate spells them. */
function signerOf({ issuer, publicKey }: CertificateTemplate, ownName: Name): { name: Name; keyId: Buffer } {
  if (issuer.certificate === 'self') return { name: ownName, keyId: keyIdOf(publicKey) }
  const { raw, publicKey: issuerKey } = new X509Certificate(issuer.certificate)
  const { subject, extensions = [] } = AsnConvert.parse(raw, Certificate).tbsCertificate
  const own = extensions.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier)
  if (own === undefined) return { name: subject, keyId: keyIdOf(issuerKey) }
  const { buffer } = AsnConvert.parse(own.extnValue.buffer, SubjectKeyIdentifier)
  return { name: subject, keyId: Buffer.from(buffer) }
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

function extensionsOf(template: CertificateTemplate, issuerKeyId: Buffer): Extension[] {
  const { authority = false, publicKey } = template
  const constraints = authority ? { cA: true, pathLenConstraint: 0 } : { cA: false }
  const keyId = new SubjectKeyIdentifier(arrayBuffer(keyIdOf(publicKey)))
  const keyIdentifier = new KeyIdentifier(arrayBuffer(issuerKeyId))
  return [
    extension(id_ce_basicConstraints, new BasicConstraints(constraints), true),
    ...usageExtensions(template.usages),
    extension(id_ce_subjectKeyIdentifier, keyId),
    extension(id_ce_authorityKeyIdentifier, new AuthorityKeyIdentifier({ keyIdentifier })),
    ...nameExtensions(template.names ?? { dns: [], ips: [] }),
  ]
}

function usageExtensions(usages: readonly Usage[]): Extension[] {
  const rows = [...new Set(usages)].map((usage) => usageTable[usage])
  const bits = rows.flatMap((row) => ('bit' in row ? [row.bit] : []))
  const purposes = rows.flatMap((row) => ('purpose' in row ? [row.purpose] : []))
  const flags = bits.reduce<number>((sum, bit) => sum | (1 << bit), 0)
  return [
    ...(bits.length > 0 ? [extension(id_ce_keyUsage, new KeyUsage(flags), true)] : []),
    ...(purposes.length > 0 ? [extension(id_ce_extKeyUsage, new ExtendedKeyUsage(purposes))] : []),
  ]
}

function nameExtensions(names: AlternativeNames): Extension[] {
  const { dns, ips } = canonicalNames(names)
  const general = [...dns.map((dNSName) => ({ dNSName })), ...ips.map((iPAddress) => ({ iPAddress }))]
  if (general.length === 0) return []
  const value = new SubjectAlternativeName(general.map((name) => new GeneralName(name)))
  return [extension(id_ce_subjectAltName, value)]
}

function extension(extnID: string, value: object, critical = false): Extension {
  const extnValue = new OctetString(AsnConvert.serialize(value))
  return new Extension({ extnID, critical, extnValue })
}

// The library takes whole ArrayBuffers, while a Buffer may be a window on a larger one.
function arrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
