/**
 * Decodes certificate requests (PKCS#10) in the browser to show their subject, names and key. The server verified the
 * request when it was created, and the page makes no decisions. An unreadable request therefore causes only an error
 * message.
 */
import { childrenOf, type Element, readWhole, tags } from '../../../../api/pki/der.ts'
import type { JudgedRequest } from '../../../../api/pki/requested-names.ts'

export interface DecodedRequest extends JudgedRequest {
  /** Type and size of the key, such as `EC P-256` or `RSA 2048 bits`. */
  readonly key: string
}

type Part = Element<Uint8Array> | undefined

/** Decodes a request. `encoded` is PEM text in base64, as in `spec.request`. */
export function decodeRequest(encoded: string): DecodedRequest {
  const pem = atob(encoded)
  const [, body = ''] = /-----BEGIN CERTIFICATE REQUEST-----([^-]*)-----END/.exec(pem) ?? []
  const bytes = Uint8Array.from(atob(body.replaceAll(/\s/g, '')), (character) => character.charCodeAt(0))
  if (bytes.length === 0) throw new Error('this is not a certificate request')
  const [info] = children(readWhole(bytes, tags.sequence))
  const [, subject, key, attributes] = children(info)
  return { subject: readSubject(subject), key: readKey(key), names: readNames(attributes) }
}

function children(element: Part): Element<Uint8Array>[] {
  if (element === undefined) throw new Error('an element is missing')
  return childrenOf(element)
}

function hex(element: Part): string {
  return [...(element?.content ?? [])].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function readSubject(name: Part): JudgedRequest['subject'] {
  const parts = children(name).flatMap((set) => children(set).map((pair) => children(pair)))
  const texts = (attributeId: string) =>
    parts.filter(([id]) => hex(id) === attributeId).map(([, value]) => new TextDecoder().decode(value?.content))
  return { commonNames: texts('550403'), organizations: texts('55040a') }
}

const curves: { readonly [id: string]: string } = {
  '2a8648ce3d030107': 'P-256',
  '2b81040022': 'P-384',
  '2b81040023': 'P-521',
}

function readKey(key: Part): string {
  const [algorithm, bits] = children(key)
  const [id, parameters] = children(algorithm)
  if (hex(id) === '2a8648ce3d0201') return `EC ${curves[hex(parameters)] ?? ''}`.trim()
  if (hex(id) === '2b6570') return 'Ed25519'
  if (hex(id) !== '2a864886f70d010101') return 'of another kind'
  const [modulus] = children(readWhole(bits!.content.subarray(1), tags.sequence))
  const bytes = modulus?.content ?? new Uint8Array()
  return `RSA ${8 * (bytes[0] === 0 ? bytes.length - 1 : bytes.length)} bits`
}

const extensionRequest = '2a864886f70d01090e'
const alternativeNames = '551d11'

function readNames(attributes: Part): JudgedRequest['names'] {
  const extensions = (attributes === undefined ? [] : children(attributes))
    .map((attribute) => children(attribute))
    .filter(([id]) => hex(id) === extensionRequest)
    .flatMap(([, values]) => children(children(values)[0]).map((extension) => children(extension)))
  const names = extensions
    .filter(([id]) => hex(id) === alternativeNames)
    .flatMap((parts) => children(readWhole(parts.at(-1)!.content, tags.sequence)))
  const texts = (tag: number) =>
    names.filter((name) => name.tag === tag).map(({ content }) => new TextDecoder('latin1').decode(content))
  const knownTags = [0x81, 0x82, 0x86, 0x87]
  return {
    dns: texts(0x82),
    emails: texts(0x81),
    uris: texts(0x86),
    ips: names.filter(({ tag }) => tag === 0x87).map(({ content }) => ipText(content)),
    others: names.filter(({ tag }) => !knownTags.includes(tag)).length,
  }
}

function ipText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) * 256 + (bytes[2 * i + 1] ?? 0)).toString(16))
  return groups.join(':').replace(/(?:^|:)(?:0(?::|$)){2,}/, '::')
}
