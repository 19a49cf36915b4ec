/** Selects the signature scheme for a private key: the hash algorithm, and the AlgorithmIdentifier to write. */
import type { KeyObject } from 'node:crypto'
import { tags } from './der.ts'
import { element, identifier, sequence } from './encode-der.ts'

export interface SignatureScheme {
  /** The hash algorithm. Null if the signature algorithm includes the hash. */
  readonly hash: string | null
  /** AlgorithmIdentifier to write into the certificate, in DER. */
  readonly identifier: Buffer
}

const noParameters = element(tags.null)
const rsa: SignatureScheme = { hash: 'sha256', identifier: sequence(identifier('2a864886f70d01010b'), noParameters) }
const ed25519: SignatureScheme = { hash: null, identifier: sequence(identifier('2b6570')) }
/** Signature schemes for elliptic curves. The hash is as strong as the curve. */
const curves: { readonly [curve: string]: SignatureScheme } = {
  prime256v1: { hash: 'sha256', identifier: sequence(identifier('2a8648ce3d040302')) },
  secp384r1: { hash: 'sha384', identifier: sequence(identifier('2a8648ce3d040303')) },
  secp521r1: { hash: 'sha512', identifier: sequence(identifier('2a8648ce3d040304')) },
}

/** Returns the scheme for a key. Throws an error if keys of its type cannot sign certificates. */
export function schemeOfKey(key: KeyObject): SignatureScheme {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  const scheme =
    type === 'rsa' ? rsa : type === 'ed25519' ? ed25519 : type === 'ec' ? curves[details?.namedCurve ?? ''] : undefined
  if (scheme !== undefined) return scheme
  throw new Error(`a key of type ${type} cannot sign certificates: use RSA, P-256, P-384, P-521 or Ed25519`)
}
