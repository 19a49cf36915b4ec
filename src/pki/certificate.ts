/**
 * Issues X.509 certificates as RFC 5280 wants them: version 3, key identifiers, critical basic constraints and key
 * usage, signed with ECDSA and SHA-256 by a P-256 key. Who may get which certificate is decided by the callers; what
 * contradicts itself throws. The ASN.1 library is loaded at the first certificate, as most starts make none.
 */
import { createHash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import type { Extension, Name } from '@peculiar/asn1-x509'
import { isP256, publicKeyOf } from './keys.ts'
import { type AlternativeNames, canonicalNames } from './names.ts'

type Asn1 = typeof import('@peculiar/asn1-schema') & typeof import('@peculiar/asn1-x509')

/** What each usage sets: a bit of the key usage (RFC 5280, 4.2.1.3), or an extended purpose (4.2.1.12). */
const usageTable = {
  'digital signature': { bit: 0 },
  'cert sign': { bit: 5 },
  'crl sign': { bit: 6 },
  'server auth': { purpose: '1.3.6.1.5.5.7.3.1' },
  'client auth': { purpose: '1.3.6.1.5.5.7.3.2' },
} as const satisfies Record<string, { bit: number } | { purpose: string }>

export type Usage = keyof typeof usageTable

export interface CertificateSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

export interface Issuer {
  /** PEM, or 'self': the certificate is signed with its own key. */
  readonly certificate: string | 'self'
  readonly key: KeyObject
}

export interface CertificateRequest {
  readonly subject: CertificateSubject
  readonly publicKey: KeyObject
  readonly issuer: Issuer
  readonly usages: readonly Usage[]
  /** A CA for end certificates only. Never implied by a usage, so that no list of usages can ask for it. */
  readonly authority?: boolean
  readonly names?: AlternativeNames
  /** Wall milliseconds; certificates know whole seconds. */
  readonly notBefore: number
  readonly notAfter: number
  /** 1 to 20 bytes of a positive number; random when absent. */
  readonly serial?: Buffer
  readonly random?: (size: number) => Buffer
}

const ecdsaWithSha256 = '1.2.840.10045.4.3.2'
const oids = { commonName: '2.5.4.3', organization: '2.5.4.10' }

/** The certificate as PEM. */
export async function issueCertificate(request: CertificateRequest): Promise<string> {
  assertConsistent(request)
  const asn1 = await loadAsn1()
  const { issuer, subject, publicKey } = request
  const signature = new asn1.AlgorithmIdentifier({ algorithm: ecdsaWithSha256 })
  const subjectName = nameOf(asn1, subject)
  const signer = signerOf(asn1, request, subjectName)
  const tbsCertificate = new asn1.TBSCertificate({
    version: asn1.Version.v3,
    serialNumber: arrayBuffer(request.serial ?? randomSerial(request.random ?? randomBytes)),
    signature,
    issuer: signer.name,
    validity: new asn1.Validity({ notBefore: new Date(request.notBefore), notAfter: new Date(request.notAfter) }),
    subject: subjectName,
    subjectPublicKeyInfo: asn1.AsnConvert.parse(spkiOf(publicKey), asn1.SubjectPublicKeyInfo),
    extensions: new asn1.Extensions(extensionsOf(asn1, request, signer.keyId)),
  })
  const signed = Buffer.from(asn1.AsnConvert.serialize(tbsCertificate))
  const signatureValue = arrayBuffer(sign('sha256', signed, issuer.key))
  const certificate = new asn1.Certificate({ tbsCertificate, signatureAlgorithm: signature, signatureValue })
  return new X509Certificate(Buffer.from(asn1.AsnConvert.serialize(certificate))).toString()
}

async function loadAsn1(): Promise<Asn1> {
  const [schema, x509] = await Promise.all([import('@peculiar/asn1-schema'), import('@peculiar/asn1-x509')])
  return { ...schema, ...x509 }
}

function assertConsistent({ subject, publicKey, issuer, usages, authority = false, ...request }: CertificateRequest) {
  if (subject.commonName === '') throw new Error('a certificate without a common name')
  if (usages.length === 0) throw new Error('a certificate without usages')
  if (usages.includes('cert sign') !== authority) throw new Error('"cert sign" is for an authority, and needed by it')
  if (!isP256(issuer.key)) throw new Error('the issuer signs with P-256 only')
  if (request.serial !== undefined) assertSerial(request.serial)
  assertValidity(request.notBefore, request.notAfter)
  assertIssuer(issuer, publicKey)
}

// DER: the shortest form of a number above zero; RFC 5280, 4.1.2.2: at most 20 bytes.
function assertSerial(serial: Buffer): void {
  const [first = 0, second = 0] = serial
  const shortest = first !== 0 || second >= 0x80
  if (serial.length > 20 || first >= 0x80 || !shortest)
    throw new Error('a serial is a positive number of 1 to 20 bytes')
}

function assertValidity(notBefore: number, notAfter: number): void {
  const fits = notBefore >= Date.UTC(1950, 0) && notBefore < notAfter && notAfter < Date.UTC(10000, 0)
  if (!fits) throw new Error(`a certificate cannot be valid from ${notBefore} to ${notAfter}`)
}

function assertIssuer(issuer: Issuer, publicKey: KeyObject): void {
  if (issuer.certificate === 'self') {
    if (!publicKeyOf(issuer.key).equals(publicKey)) throw new Error('self-signed with a key that is not its own')
    return
  }
  const certificate = new X509Certificate(issuer.certificate)
  if (!certificate.ca) throw new Error('the issuer is not a certificate authority')
  if (!certificate.checkPrivateKey(issuer.key)) throw new Error('the key of the issuer is not that of its certificate')
}

// 128 bits that start with 01: positive, never shorter, and 126 of them random.
function randomSerial(random: (size: number) => Buffer): Buffer {
  const serial = Buffer.from(random(16))
  serial[0] = ((serial[0] as number) & 0x3f) | 0x40
  return serial
}

function nameOf(asn1: Asn1, { commonName, organizations }: CertificateSubject): Name {
  const attributes = [...organizations.map((o) => [oids.organization, o]), [oids.commonName, commonName]] as const
  return new asn1.Name(
    attributes.map(([type, utf8String]) => {
      const value = new asn1.AttributeValue({ utf8String: utf8String as string })
      return new asn1.RelativeDistinguishedName([new asn1.AttributeTypeAndValue({ type: type as string, value })])
    }),
  )
}

/** The name and key identifier of the issuer, as its own certificate spells them. */
function signerOf(asn1: Asn1, { issuer, publicKey }: CertificateRequest, ownName: Name): { name: Name; keyId: Buffer } {
  if (issuer.certificate === 'self') return { name: ownName, keyId: keyIdOf(publicKey) }
  const { raw, publicKey: issuerKey } = new X509Certificate(issuer.certificate)
  const { subject, extensions = [] } = asn1.AsnConvert.parse(raw, asn1.Certificate).tbsCertificate
  const own = extensions.find(({ extnID }) => extnID === asn1.id_ce_subjectKeyIdentifier)
  if (own === undefined) return { name: subject, keyId: keyIdOf(issuerKey) }
  return {
    name: subject,
    keyId: Buffer.from(asn1.AsnConvert.parse(own.extnValue.buffer, asn1.SubjectKeyIdentifier).buffer),
  }
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

function extensionsOf(asn1: Asn1, request: CertificateRequest, issuerKeyId: Buffer): Extension[] {
  const { authority = false, publicKey } = request
  const constraints = authority ? { cA: true, pathLenConstraint: 0 } : { cA: false }
  const keyId = new asn1.SubjectKeyIdentifier(arrayBuffer(keyIdOf(publicKey)))
  const keyIdentifier = new asn1.KeyIdentifier(arrayBuffer(issuerKeyId))
  return [
    extension(asn1, asn1.id_ce_basicConstraints, new asn1.BasicConstraints(constraints), true),
    ...usageExtensions(asn1, request.usages),
    extension(asn1, asn1.id_ce_subjectKeyIdentifier, keyId),
    extension(asn1, asn1.id_ce_authorityKeyIdentifier, new asn1.AuthorityKeyIdentifier({ keyIdentifier })),
    ...nameExtensions(asn1, request.names ?? { dns: [], ips: [] }),
  ]
}

function usageExtensions(asn1: Asn1, usages: readonly Usage[]): Extension[] {
  const rows = [...new Set(usages)].map((usage) => usageTable[usage])
  const bits = rows.flatMap((row) => ('bit' in row ? [row.bit] : []))
  const purposes = rows.flatMap((row) => ('purpose' in row ? [row.purpose] : []))
  const flags = bits.reduce<number>((sum, bit) => sum | (1 << bit), 0)
  return [
    ...(bits.length > 0 ? [extension(asn1, asn1.id_ce_keyUsage, new asn1.KeyUsage(flags), true)] : []),
    ...(purposes.length > 0 ? [extension(asn1, asn1.id_ce_extKeyUsage, new asn1.ExtendedKeyUsage(purposes))] : []),
  ]
}

function nameExtensions(asn1: Asn1, names: AlternativeNames): Extension[] {
  const { dns, ips } = canonicalNames(names)
  const general = [...dns.map((dNSName) => ({ dNSName })), ...ips.map((iPAddress) => ({ iPAddress }))]
  if (general.length === 0) return []
  const value = new asn1.SubjectAlternativeName(general.map((name) => new asn1.GeneralName(name)))
  return [extension(asn1, asn1.id_ce_subjectAltName, value)]
}

function extension(asn1: Asn1, extnID: string, value: object, critical = false): Extension {
  const extnValue = new asn1.OctetString(asn1.AsnConvert.serialize(value))
  return new asn1.Extension({ extnID, critical, extnValue })
}

// The library takes whole ArrayBuffers, while a Buffer may be a window on a larger one.
function arrayBuffer(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
