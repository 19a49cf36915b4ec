/**
 * Reads the identity in a client certificate: the common name, organizations and user IDs of its subject. Reads the DER
 * itself, because Node's text form is ambiguous: a crafted value can look like another name (CVE-2021-44533). Values
 * are returned unchanged, including NUL. A value whose bytes do not match its string type causes a `MalformedDer`
 * error. Callers decide whether the certificate is trusted and whether the name is acceptable as a user.
 *
 * Programs disagree on which of several common names counts (Go uses the last, others use the first), so the functions
 * return all of them. Callers reject a subject with multiple common names, because two programs would otherwise see two
 * different users.
 */
import { childrenOf, type Element, expectTag, MalformedDer, tags } from './der.ts'
import { subjectOf } from './tbs.ts'

/** Names in the subject of a certificate. */
export interface Subject {
  /** All common names of the subject, in encoded order. A name may be empty. */
  readonly commonNames: readonly string[]
  /** All organizations of the subject, in encoded order. */
  readonly organizations: readonly string[]
}

const commonNameId = Buffer.from('550403', 'hex')
const organizationId = Buffer.from('55040a', 'hex')
const userIdId = Buffer.from('2b0601040183c25302', 'hex')

/** Reads the subject of a certificate. */
export function readSubject(certificate: Buffer): Subject {
  return readName(subjectOf(certificate))
}

/**
 * Reads the user IDs of a certificate's subject, which Kubernetes encodes as attributes of type 1.3.6.1.4.1.57683.2.
 */
export function readUserIds(certificate: Buffer): string[] {
  return readValues(subjectOf(certificate), userIdId)
}

/** Reads the subject from a parsed Name, such as the subject of a certificate request. */
export function readName(name: Element): Subject {
  return { commonNames: readValues(name, commonNameId), organizations: readValues(name, organizationId) }
}

/** Reads the values of all attributes of a type, in encoded order. */
function readValues(name: Element, type: Buffer): string[] {
  const attributes = childrenOf(name).flatMap(attributesOf).map(partsOf)
  return attributes.filter(({ id }) => id.equals(type)).map(({ value }) => readString(value))
}

function attributesOf(relative: Element): Element[] {
  const attributes = childrenOf(expectTag(relative, tags.set))
  if (attributes.length === 0) throw new MalformedDer('a relative distinguished name is empty')
  return attributes
}

function partsOf(attribute: Element): { id: Buffer; value: Element } {
  const [id, value, ...rest] = childrenOf(expectTag(attribute, tags.sequence))
  if (value === undefined || rest.length > 0) throw new MalformedDer('an attribute is not one type and one value')
  return { id: expectTag(id, tags.oid).content, value }
}

function readString({ tag, content }: Element): string {
  switch (tag) {
    case 0x0c: // UTF8String
      return readUtf8(content)
    case 0x12: // NumericString
    case 0x13: // PrintableString
    case 0x16: // IA5String
    case 0x1a: // VisibleString
      return readAscii(content)
    case 0x14: // A T61String has one byte per character in practice.
      return content.toString('latin1')
    case 0x1c: // UniversalString
      return readCodePoints(content, 4)
    case 0x1e: // BMPString
      return readCodePoints(content, 2)
    default:
      throw new MalformedDer(`a name is of type 0x${tag.toString(16)}, which is not a string`)
  }
}

// `Buffer.toString` replaces bytes that are not UTF-8 with U+FFFD, so two names could become equal. Names with such
// bytes are rejected.
function readUtf8(content: Buffer): string {
  const text = content.toString('utf8')
  if (text.includes('\ufffd') && !Buffer.from(text).equals(content)) throw new MalformedDer('a UTF8String is not UTF-8')
  return text
}

function readAscii(content: Buffer): string {
  if (content.some((byte) => byte >= 0x80)) throw new MalformedDer('a string has bytes outside ASCII')
  return content.toString('latin1')
}

function readCodePoints(content: Buffer, width: 2 | 4): string {
  if (content.length % width !== 0) throw new MalformedDer('a string ends within a character')
  let text = ''
  for (let at = 0; at < content.length; at += width) text += characterOf(content.readUIntBE(at, width))
  return text
}

function characterOf(codePoint: number): string {
  if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) {
    throw new MalformedDer('a string has an invalid code point')
  }
  return String.fromCodePoint(codePoint)
}
