/**
 * Reads the subject and extensions of a certificate as DER. Only the structure around them is checked, because TLS
 * verifies validity and signature.
 */
import { childrenOf, type Element, expectTag, readWhole, tags } from './der.ts'

/** Returns the subject of a certificate, as a parsed Name. */
export function subjectOf(certificate: Buffer): Element {
  const { fields, first } = fieldsOf(certificate)
  return expectTag(fields[first + 4], tags.sequence)
}

/**
 * Returns the value of the extension with the given object identifier (DER content), or undefined if the certificate
 * does not contain the extension.
 */
export function extensionOf(certificate: Buffer, oid: Buffer): Buffer | undefined {
  const wrapped = fieldsOf(certificate).fields.find((field) => field.tag === 0xa3)
  if (wrapped === undefined) return undefined
  const [list] = childrenOf(wrapped)
  for (const extension of childrenOf(expectTag(list, tags.sequence))) {
    const parts = childrenOf(expectTag(extension, tags.sequence))
    if (expectTag(parts[0], tags.oid).content.equals(oid)) return expectTag(parts.at(-1), tags.octetString).content
  }
  return undefined
}

/** Whether a certificate has the same signature algorithm inside and outside its signed part, as X.509 requires. */
export function hasOneSignatureAlgorithm(certificate: Buffer): boolean {
  const { fields, first } = fieldsOf(certificate)
  const outside = childrenOf(readWhole(certificate, tags.sequence))[1]
  return expectTag(fields[first + 1], tags.sequence).whole.equals(expectTag(outside, tags.sequence).whole)
}

// Returns the fields of a certificate's tbsCertificate: [0] version (absent in v1), serial, algorithm, issuer,
// validity, subject, key, and so on. `first` is the index of the serial number. A certificate consists of
// tbsCertificate, algorithm and signature.
function fieldsOf(certificate: Buffer): { fields: Element[]; first: number } {
  const [tbs] = childrenOf(readWhole(certificate, tags.sequence))
  const fields = childrenOf(expectTag(tbs, tags.sequence))
  return { fields, first: fields[0]?.tag === 0xa0 ? 1 : 0 }
}
