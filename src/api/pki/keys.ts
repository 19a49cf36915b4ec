/**
 * The keys this server makes for itself: P-256, as PKCS#8 PEM. They take a millisecond to make, where RSA takes half
 * a second of the first start.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

/** Makes a new private key. */
export function generateKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

/** The key in PEM. */
export function keyToPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Throws when the text is not an unencrypted private key on P-256. */
export function keyFromPem(pem: string): KeyObject {
  const key = createPrivateKey(pem)
  if (!isP256(key)) throw new Error('the key is not on the curve P-256')
  return key
}

/** The public half of a private key. */
export function publicKeyOf(key: KeyObject): KeyObject {
  return createPublicKey(key)
}

export function isP256(key: KeyObject): boolean {
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
}
