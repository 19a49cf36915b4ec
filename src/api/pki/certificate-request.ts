/**
 * Reads untrusted certificate requests (PKCS#10). The request must be the first PEM block, well formed, and signed with
 * the key for which the certificate is requested. Otherwise, the functions throw MalformedInput. The cost is bounded by
 * the size of the input. Callers decide whether to grant the request.
 */
import { constants, type KeyObject, verify } from 'node:crypto'
import { type Algorithm, readAlgorithm, readBits } from './algorithm.ts'
import { childrenOf, type Element, expectTag, MalformedDer, readWhole, tags } from './der.ts'
import { readName, type Subject } from './identity.ts'
import { MalformedInput } from './malformed-input.ts'
import { readPemBlocks } from './pem.ts'
import { readPublicKey } from './public-key.ts'

/** A parsed certificate request (PKCS #10). */
export interface CertificateRequest {
  readonly subject: Subject
  /** Distinguished name of the requested subject in DER. */
  readonly subjectName: Buffer
  readonly publicKey: KeyObject
  /** Requested extensions, in encoded order. */
  readonly extensions: readonly RequestedExtension[]
}

export interface RequestedExtension {
  /** Object identifier of the extension, as its DER content in hexadecimal. */
  readonly id: string
  readonly critical: boolean
  /** Value of the extension in DER, without the enclosing octet string. */
  readonly value: Buffer
}

const extensionRequestId = '2a864886f70d01090e'
export const subjectAltNameId = '551d11'

/** Reads a certificate request in PEM format. Only the first block is read. All other text is ignored. */
export function readCertificateRequest(pem: Buffer): CertificateRequest {
  const [block] = readPemBlocks(pem)
  if (block?.label !== 'CERTIFICATE REQUEST') throw new MalformedInput('PEM block type must be CERTIFICATE REQUEST')
  return readRequestDer(block.bytes)
}

/** Reads a certificate request in DER format and checks its signature. */
export function readRequestDer(der: Buffer): CertificateRequest {
  const [info, algorithm, signature, ...rest] = childrenOf(readWhole(der, tags.sequence))
  if (rest.length > 0) throw new MalformedDer('a request must have only content, algorithm and signature')
  const request = readContent(expectTag(info, tags.sequence))
  checkSignature(request.publicKey, { algorithm: readAlgorithm(algorithm), signed: info!.whole, signature })
  return request
}

function readContent(info: Element): CertificateRequest {
  const [version, subject, key, attributes, ...rest] = childrenOf(info)
  expectTag(version, tags.integer)
  if (rest.length > 0) throw new MalformedDer('a request must have only version, subject, key and attributes')
  return {
    subject: readName(expectTag(subject, tags.sequence)),
    subjectName: subject!.whole,
    publicKey: readPublicKey(expectTag(key, tags.sequence)),
    extensions: childrenOf(expectTag(attributes, 0xa0)).flatMap(extensionsOf),
  }
}

/**
 * Returns the extensions that an attribute requests. The list is empty if the attribute is not an extension request.
 */
function extensionsOf(attribute: Element): RequestedExtension[] {
  const [id, values] = childrenOf(expectTag(attribute, tags.sequence))
  if (expectTag(id, tags.oid).content.toString('hex') !== extensionRequestId) return []
  const [list] = childrenOf(expectTag(values, tags.set))
  return childrenOf(expectTag(list, tags.sequence)).map(readExtension)
}

function readExtension(element: Element): RequestedExtension {
  const parts = childrenOf(expectTag(element, tags.sequence))
  const critical = parts.length === 3 && expectTag(parts[1], tags.boolean).content[0] === 0xff
  if (parts.length !== 2 && parts.length !== 3) throw new MalformedDer('an extension must have two or three parts')
  const id = expectTag(parts[0], tags.oid).content.toString('hex')
  const value = expectTag(parts.at(-1), tags.octetString).content
  if (id === subjectAltNameId) checkAlternativeNames(value)
  return { id, critical, value }
}

/**
 * Validates the alternative names in a request. E-mail addresses, DNS names and URIs must be ASCII. IP addresses must
 * have four or sixteen bytes.
 */
function checkAlternativeNames(value: Buffer): void {
  for (const { tag, content } of childrenOf(readWhole(value, tags.sequence))) {
    const isText = tag === 0x81 || tag === 0x82 || tag === 0x86
    if (isText && content.some((byte) => byte >= 0x80)) throw new MalformedDer('an alternative name is not ASCII')
    if (tag === 0x87 && content.length !== 4 && content.length !== 16)
      throw new MalformedDer(`an alternative name is an IP address with ${content.length} bytes`)
  }
}

interface Signed {
  readonly algorithm: Algorithm
  readonly signed: Buffer
  readonly signature: Element | undefined
}

function checkSignature(key: KeyObject, { algorithm, signed, signature }: Signed): void {
  const scheme = schemeOf(algorithm)
  if (scheme === undefined || scheme.keyType !== key.asymmetricKeyType)
    throw new MalformedInput('the signature algorithm is not supported or does not match the key')
  const bits = readBits(signature)
  if (!isSignedBy(scheme, key, signed, bits))
    throw new MalformedInput('the signature was not made with the key in the request')
}

function isSignedBy({ hash, pss }: Scheme, key: KeyObject, signed: Buffer, signature: Buffer): boolean {
  const padding = pss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {}
  try {
    return verify(hash, signed, { key, ...padding }, signature)
  } catch (cause) {
    throw new MalformedInput('the signature cannot be verified with the key in the request', { cause })
  }
}

interface Scheme {
  readonly keyType: 'rsa' | 'ec' | 'ed25519'
  /** Hash algorithm, or null for signature schemes that include their own hash, such as Ed25519. */
  readonly hash: string | null
  readonly pss?: boolean
}

// The supported signature schemes. SHA-1 is sufficient to prove possession of the key, because an attacker gains
// nothing from a forged request. MD5 is rejected.
const schemes: { readonly [id: string]: Scheme } = {
  '2a864886f70d010105': { keyType: 'rsa', hash: 'sha1' },
  '2a864886f70d01010b': { keyType: 'rsa', hash: 'sha256' },
  '2a864886f70d01010c': { keyType: 'rsa', hash: 'sha384' },
  '2a864886f70d01010d': { keyType: 'rsa', hash: 'sha512' },
  '2a8648ce3d0401': { keyType: 'ec', hash: 'sha1' },
  '2a8648ce3d040302': { keyType: 'ec', hash: 'sha256' },
  '2a8648ce3d040303': { keyType: 'ec', hash: 'sha384' },
  '2a8648ce3d040304': { keyType: 'ec', hash: 'sha512' },
  '2b6570': { keyType: 'ed25519', hash: null },
}
const pssId = '2a864886f70d01010a'

function schemeOf({ id, parameters }: Algorithm): Scheme | undefined {
  if (id !== pssId) return hasNone(parameters) ? schemes[id] : undefined
  const hash = [...pssHashes].find(([, expected]) => parameters?.whole.equals(expected))?.[0]
  return hash === undefined ? undefined : { keyType: 'rsa', hash, pss: true }
}

/** Whether an algorithm has no parameters. Some encoders omit absent parameters, while others write null. */
function hasNone(parameters: Element | undefined): boolean {
  return parameters === undefined || (parameters.tag === tags.null && parameters.content.length === 0)
}

/** The supported PSS parameters: the same hash for both steps, and a salt as long as the hash. */
const pssHashes = new Map([
  ['sha256', pssParameters('01', '20')],
  ['sha384', pssParameters('02', '30')],
  ['sha512', pssParameters('03', '40')],
])

function pssParameters(hash: string, saltBytes: string): Buffer {
  const hashAlgorithm = `300d06096086480165030402${hash}0500`
  const mask = `301a06092a864886f70d010108${hashAlgorithm}`
  return Buffer.from(`3034a00f${hashAlgorithm}a11c${mask}a2030201${saltBytes}`, 'hex')
}
