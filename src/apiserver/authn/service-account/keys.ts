/**
 * Keys for service account tokens: one signing key and all verification keys. The keys are read from PEM text, which
 * may contain any number of private keys, public keys and certificates. The signature algorithm depends on the key,
 * never on the token.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type PemBlock, readPemBlocks } from '../../../api/pki/pem.ts'
import { messageOf } from '../../../base/text/errors.ts'

/** A public key and its ID. */
export interface VerifyingKey {
  /** The key ID in token headers. Computed as in kube-apiserver, from a hash of the public key. */
  readonly id: string
  readonly algorithm: string
  readonly publicKey: KeyObject
}

/** A key with its private part, which can sign tokens. */
export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject
}

/** The keys that this server uses to sign and verify tokens. */
export interface TokenKeys {
  readonly signing: SigningKey
  /** The distinct verification keys, including the public key of `signing`. */
  readonly verifying: readonly VerifyingKey[]
}

/**
 * Reads all keys in a text. If a key is unusable, throws an Error that contains the position and the reason, but never
 * the key itself.
 */
export function readKeys(pem: string): (VerifyingKey | SigningKey)[] {
  const blocks = [...readPemBlocks(Buffer.from(pem))].filter(({ label }) => label !== 'EC PARAMETERS')
  if (blocks.length === 0) throw new Error('no PEM key found')
  return blocks.map((block, index) => {
    try {
      return keyOf(keyObject(block))
    } catch (error) {
      throw new Error(`key ${index + 1}: ${messageOf(error)}`)
    }
  })
}

/** Whether a key has its private part and can sign tokens. */
export function isSigning(key: VerifyingKey | SigningKey): key is SigningKey {
  return 'privateKey' in key
}

/** Combines the key for new tokens with all keys whose tokens are accepted, without duplicates. */
export function tokenKeys(signing: SigningKey, others: readonly VerifyingKey[]): TokenKeys {
  const all = new Map([signing, ...others].map((key) => [key.id, key]))
  return { signing, verifying: [...all.values()] }
}

function keyObject({ label, bytes, hasHeaders }: PemBlock): KeyObject {
  if (hasHeaders || label === 'ENCRYPTED PRIVATE KEY') throw new Error('it is encrypted')
  const privateForm = privateForms[label]
  if (privateForm !== undefined) return createPrivateKey({ key: bytes, format: 'der', type: privateForm })
  if (label === 'CERTIFICATE') return new X509Certificate(bytes).publicKey
  const publicForm = publicForms[label]
  if (publicForm === undefined) throw new Error(`it is not a key but ${JSON.stringify(label.slice(0, 40))}`)
  return createPublicKey({ key: bytes, format: 'der', type: publicForm })
}

const privateForms: { readonly [label: string]: 'pkcs8' | 'pkcs1' | 'sec1' } = {
  'PRIVATE KEY': 'pkcs8',
  'RSA PRIVATE KEY': 'pkcs1',
  'EC PRIVATE KEY': 'sec1',
}
const publicForms: { readonly [label: string]: 'spki' | 'pkcs1' } = {
  'PUBLIC KEY': 'spki',
  'RSA PUBLIC KEY': 'pkcs1',
}

function keyOf(key: KeyObject): VerifyingKey | SigningKey {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const verifying = { id: idOf(publicKey), algorithm: algorithmOf(publicKey), publicKey }
  return key.type === 'private' ? { ...verifying, privateKey: key } : verifying
}

function idOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}

const curves: { readonly [curve: string]: string } = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }
const shortestRsa = 2048

function algorithmOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  if (type === 'ed25519') return 'EdDSA'
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0
    if (bits < shortestRsa)
      throw new Error(`an RSA key with ${bits} bits is too short: use at least ${shortestRsa} bits`)
    return 'RS256'
  }
  const algorithm = type === 'ec' ? curves[details?.namedCurve ?? ''] : undefined
  if (algorithm === undefined) throw new Error('tokens require an RSA, Ed25519, P-256, P-384 or P-521 key')
  return algorithm
}
