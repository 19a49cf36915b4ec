/** Encodes valid and invalid DER and PEM for tests of the readers. */
import { type KeyObject, sign } from 'node:crypto'
import { generateKey, publicKeyOf } from '../../../src/api/pki/keys.ts'

export const oid = {
  cn: '550403',
  o: '55040a',
  ou: '55040b',
  email: '2a864886f70d010901',
  uid: '2b0601040183c25302',
}

export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const size = content.length
  const bytes = [size >> 16, (size >> 8) & 0xff, size & 0xff].slice(size < 0x100 ? 2 : size < 0x10000 ? 1 : 0)
  const length = size < 0x80 ? [size] : [0x80 + bytes.length, ...bytes]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

export const hex = (text: string) => Buffer.from(text, 'hex')
export const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
export const identifier = (id: string) => der(0x06, hex(id))
export const bits = (bytes: Buffer) => der(0x03, Buffer.from([0]), bytes)
export const integer = (bytes: Buffer) => der(0x02, bytes)

export function attribute(type: string, tag: number, value: Buffer | string): Buffer {
  return sequence(identifier(type), der(tag, Buffer.from(value as string)))
}

export const rdn = (...attributes: Buffer[]) => der(0x31, ...attributes)
export const utf8 = (type: string, value: string) => attribute(type, 0x0c, value)

export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

export interface RequestParts {
  readonly subject?: Buffer[]
  readonly key?: KeyObject
  /** The SubjectPublicKeyInfo in the request. Defaults to the SubjectPublicKeyInfo of the key. */
  readonly publicKey?: Buffer
  /** The part of the request after the key. Defaults to the attributes. */
  readonly rest?: Buffer[]
  /** The algorithm identifier of the signature. */
  readonly algorithm?: Buffer
  readonly hash?: string | null
}

export const noAttributes = der(0xa0)
export const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'))

/** Returns a request in DER, signed with its key. */
export function requestDer(parts: RequestParts = {}): Buffer {
  const { key = generateKey(), subject = [rdn(utf8(oid.cn, 'jane'))], rest = [noAttributes] } = parts
  const publicKey = parts.publicKey ?? publicKeyOf(key).export({ type: 'spki', format: 'der' })
  const content = sequence(integer(Buffer.from([0])), sequence(...subject), publicKey, ...rest)
  const signature = sign(parts.hash === undefined ? 'sha256' : parts.hash, content, key)
  return sequence(content, parts.algorithm ?? ecdsaWithSha256, bits(signature))
}

export function requestPem(parts: RequestParts = {}): string {
  return pem('CERTIFICATE REQUEST', requestDer(parts))
}
