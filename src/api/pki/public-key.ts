/**
 * Reads untrusted public keys: RSA, ECDSA on the NIST curves, Ed25519. The reader checks type, curve and size in the
 * DER before it passes the bytes to the crypto library. Expensive keys, such as keys with an RSA modulus of a megabit
 * or a custom curve, are therefore rejected.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { readAlgorithm, readBits } from './algorithm.ts'
import { childrenOf, type Element, expectTag, MalformedDer, readWhole, tags } from './der.ts'
import { MalformedInput } from './malformed-input.ts'

/** Size in bytes of the largest modulus that the crypto library supports. */
const maxModulusBytes = 16384 / 8
const maxExponentBytes = 4

/** Size in bytes of uncompressed points on the curves P-224, P-256, P-384 and P-521. */
const pointBytes: { readonly [curve: string]: number } = {
  '2b81040021': 57,
  '2a8648ce3d030107': 65,
  '2b81040022': 97,
  '2b81040023': 133,
}

/** Reads a public key. `info` is a SubjectPublicKeyInfo. Throws MalformedInput. */
export function readPublicKey(info: Element): KeyObject {
  const [algorithm, bits, ...rest] = childrenOf(info)
  if (rest.length > 0) throw new MalformedDer('a public key must have only algorithm and key')
  const { id, parameters } = readAlgorithm(algorithm)
  checkKey(id, parameters, readBits(bits))
  try {
    return createPublicKey({ key: info.whole, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new MalformedInput('the public key is not valid', { cause })
  }
}

function checkKey(type: string, parameters: Element | undefined, key: Buffer): void {
  switch (type) {
    case '2a864886f70d010101':
      checkRsa(parameters, key)
      break
    case '2a8648ce3d0201':
      checkEc(expectTag(parameters, tags.oid).content.toString('hex'), key)
      break
    case '2b6570':
      if (parameters !== undefined || key.length !== 32) throw new MalformedInput('the Ed25519 key is not valid')
      break
    default:
      throw new MalformedInput('the public key type is not supported: use RSA, ECDSA or Ed25519')
  }
}

function checkRsa(parameters: Element | undefined, key: Buffer): void {
  expectTag(parameters, tags.null)
  const [modulus, exponent, ...rest] = childrenOf(readWhole(key, tags.sequence))
  if (rest.length > 0) throw new MalformedDer('an RSA key must have only modulus and exponent')
  checkPositive(modulus, maxModulusBytes)
  checkPositive(exponent, maxExponentBytes)
}

function checkPositive(element: Element | undefined, maxBytes: number): void {
  const { content } = expectTag(element, tags.integer)
  const [first = 0x80] = content
  // Do not count a leading zero byte, which only marks the number as positive.
  const size = first === 0 ? content.length - 1 : content.length
  if (first >= 0x80 || size === 0) throw new MalformedInput('a number in the RSA key is not positive')
  if (size > maxBytes) throw new MalformedInput(`a number in the RSA key has more than ${maxBytes * 8} bits`)
}

function checkEc(curve: string, point: Buffer): void {
  const size = pointBytes[curve]
  if (size === undefined) throw new MalformedInput('the curve is not supported: use P-224, P-256, P-384 or P-521')
  if (point[0] !== 4 || point.length !== size) throw new MalformedInput('the public key is not an uncompressed point')
}
