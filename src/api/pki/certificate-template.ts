/**
 * The certificate template and the table of usages. A template must be consistent and conform to RFC 5280. Callers
 * decide who may get which certificate.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { publicKeyOf } from './keys.ts'
import type { AlternativeNames } from './names.ts'

/**
 * The encoding of each usage: a bit of the key usage (RFC 5280, 4.2.1.3), or the object identifier of an extended key
 * usage (4.2.1.12) in DER.
 */
export const usageTable = {
  signing: { bit: 0 },
  'digital signature': { bit: 0 },
  'content commitment': { bit: 1 },
  'key encipherment': { bit: 2 },
  'data encipherment': { bit: 3 },
  'key agreement': { bit: 4 },
  'cert sign': { bit: 5 },
  'crl sign': { bit: 6 },
  'encipher only': { bit: 7 },
  'decipher only': { bit: 8 },
  any: { purpose: '551d2500' },
  'server auth': { purpose: '2b06010505070301' },
  'client auth': { purpose: '2b06010505070302' },
  'code signing': { purpose: '2b06010505070303' },
  'email protection': { purpose: '2b06010505070304' },
  's/mime': { purpose: '2b06010505070304' },
  'ipsec end system': { purpose: '2b06010505070305' },
  'ipsec tunnel': { purpose: '2b06010505070306' },
  'ipsec user': { purpose: '2b06010505070307' },
  timestamping: { purpose: '2b06010505070308' },
  'ocsp signing': { purpose: '2b06010505070309' },
  'microsoft sgc': { purpose: '2b0601040182370a0303' },
  'netscape sgc': { purpose: '6086480186f8420401' },
} as const satisfies Record<string, { bit: number } | { purpose: string }>

export type Usage = keyof typeof usageTable

export interface CertificateSubject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** The CA that issues a certificate, with its private key. */
export interface Issuer {
  /** The issuer's certificate as PEM, or `self` if the certificate is signed with its own key. */
  readonly certificate: string | 'self'
  readonly key: KeyObject
}

export interface CertificateTemplate {
  readonly subject: CertificateSubject
  readonly publicKey: KeyObject
  readonly issuer: Issuer
  readonly usages: readonly Usage[]
  /**
   * Whether the certificate is for a CA that signs end-entity certificates. No usage implies this property, so it
   * cannot be requested through usages.
   */
  readonly authority?: boolean
  readonly names?: AlternativeNames
  /** Start of the validity period, as wall-clock time in milliseconds. Certificates have a precision of seconds. */
  readonly notBefore: number
  readonly notAfter: number
  /** The serial number, which is positive and 1 to 20 bytes long. Random if undefined. */
  readonly serial?: Buffer
  readonly random?: (size: number) => Buffer
}

/** Throws an error if the template is inconsistent or violates RFC 5280. */
export function assertConsistent(template: CertificateTemplate): void {
  const { usages, authority = false, issuer, serial } = template
  if (usages.length === 0) throw new Error('a certificate must have usages')
  if (usages.includes('cert sign') !== authority)
    throw new Error('"cert sign" is required for a CA and not allowed otherwise')
  if (serial !== undefined) assertSerial(serial)
  assertSubject(template.subject)
  assertValidity(template.notBefore, template.notAfter)
  assertIssuer(issuer, template.publicKey)
}

function assertSubject({ commonName, organizations }: CertificateSubject): void {
  const fits = [commonName, ...organizations].every((text) => text !== '' && text.isWellFormed())
  if (!fits) throw new Error('a common name or organization is empty or not Unicode text')
}

// Validates a serial number. DER requires the shortest form of a positive number, and RFC 5280, 4.1.2.2, allows at most
// 20 bytes.
function assertSerial(serial: Buffer): void {
  const [first = 0, second = 0] = serial
  const positive = first < 0x80 && (first !== 0 || second >= 0x80)
  if (!positive || serial.length > 20) throw new Error('a serial number must be positive and have 1 to 20 bytes')
}

function assertValidity(notBefore: number, notAfter: number): void {
  const fits = notBefore >= Date.UTC(1950, 0) && notBefore < notAfter && notAfter < Date.UTC(10000, 0)
  if (!fits) throw new Error(`a certificate cannot be valid from ${notBefore} to ${notAfter}`)
}

function assertIssuer(issuer: Issuer, publicKey: KeyObject): void {
  if (issuer.certificate === 'self') {
    if (!publicKeyOf(issuer.key).equals(publicKey))
      throw new Error('a self-signed certificate must be signed with its own key')
    return
  }
  const certificate = new X509Certificate(issuer.certificate)
  if (!certificate.ca) throw new Error('the issuer is not a certificate authority')
  if (!certificate.checkPrivateKey(issuer.key)) throw new Error("the issuer's key does not match its certificate")
}
