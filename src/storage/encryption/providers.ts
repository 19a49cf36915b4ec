/**
 * The encryption providers. A stored value starts with a marker that names its cipher and key, in the format of
 * kube-apiserver 1.23 (`k8s:enc:aesgcm:v1:<key>:`). A store written by kube-apiserver can therefore be read with the
 * same configuration. If the cipher supports authenticated data, a value is bound to its key in the store and cannot be
 * moved to another key.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** An encryption provider: one cipher with one key. */
export interface Provider {
  /** The marker at the start of every value that this provider writes, or '' for plain text. */
  readonly marker: string
  encrypt(place: string, value: Uint8Array): Buffer
  /** Decrypts a value without its marker. Throws an error if the value is damaged or was written with another key. */
  decrypt(place: string, value: Uint8Array): Buffer
}

/** The cipher names that the configuration uses. */
export const ciphers = ['aesgcm', 'aescbc', 'secretbox'] as const
export type Cipher = (typeof ciphers)[number]

/** The allowed key lengths in bytes. */
export const keyLengths: { readonly [C in Cipher]: readonly number[] } = {
  aesgcm: [16, 24, 32],
  aescbc: [16, 24, 32],
  secretbox: [32],
}

/** Stores values in plain text. */
export const identity: Provider = {
  marker: '',
  encrypt: (_, value) => asBuffer(value),
  decrypt: (_, value) => asBuffer(value),
}

const gcmNonce = 12
const gcmTag = 16

/**
 * AES in Galois/counter mode. A value consists of a nonce, the ciphertext and a tag, and is bound to its key in the
 * store.
 */
export function aesgcm(marker: string, key: Buffer): Provider {
  const algorithm = `aes-${8 * key.length}-gcm` as 'aes-256-gcm'
  return {
    marker,
    encrypt: (place, value) => {
      const nonce = randomBytes(gcmNonce)
      const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: gcmTag }).setAAD(Buffer.from(place))
      const sealed = [cipher.update(value), cipher.final()]
      return Buffer.concat([Buffer.from(marker), nonce, ...sealed, cipher.getAuthTag()])
    },
    decrypt: (place, value) => {
      if (value.length < gcmNonce + gcmTag) throw new Error('the value is truncated')
      const nonce = value.subarray(0, gcmNonce)
      const sealed = value.subarray(gcmNonce, -gcmTag)
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: gcmTag }).setAAD(Buffer.from(place))
      decipher.setAuthTag(value.subarray(-gcmTag))
      return Buffer.concat([decipher.update(sealed), decipher.final()])
    },
  }
}

const block = 16

/** Checks whether a decrypted value is plausible for its key in the store. */
export type StoredValueCheck = (place: string, value: Buffer) => boolean

/**
 * AES in CBC mode with padding. A value consists of an initialization vector and the ciphertext. The cipher does not
 * authenticate values: with a wrong key, about one value in 256 has valid padding and decrypts to garbage. The
 * decrypted value itself is therefore checked.
 */
export function aescbc(marker: string, key: Buffer, isStoredValue: StoredValueCheck = () => true): Provider {
  const algorithm = `aes-${8 * key.length}-cbc`
  return {
    marker,
    encrypt: (_, value) => {
      const start = randomBytes(block)
      const cipher = createCipheriv(algorithm, key, start)
      return Buffer.concat([Buffer.from(marker), start, cipher.update(value), cipher.final()])
    },
    decrypt: (place, value) => {
      if (value.length < 2 * block || value.length % block !== 0) throw new Error('the value is truncated')
      const decipher = createDecipheriv(algorithm, key, value.subarray(0, block))
      const plain = Buffer.concat([decipher.update(value.subarray(block)), decipher.final()])
      if (!isStoredValue(place, plain)) throw new Error('wrong key or damaged value')
      return plain
    },
  }
}

const boxNonce = 24

/**
 * XSalsa20 with Poly1305. A value consists of a nonce and the ciphertext. Node.js does not include this cipher, so a
 * library is imported on demand.
 */
export async function secretbox(marker: string, key: Buffer): Promise<Provider> {
  const { xsalsa20poly1305 } = await import('@noble/ciphers/salsa.js')
  return {
    marker,
    encrypt: (_, value) => {
      const nonce = randomBytes(boxNonce)
      return Buffer.concat([Buffer.from(marker), nonce, xsalsa20poly1305(key, nonce).encrypt(value)])
    },
    decrypt: (_, value) => {
      const opened = xsalsa20poly1305(key, value.subarray(0, boxNonce)).decrypt(value.subarray(boxNonce))
      return asBuffer(opened)
    },
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
