/**
 * The ways in which a value is encrypted. What is stored begins with words that say which way and which key it was, in
 * the form of kube-apiserver 1.23 (`k8s:enc:aesgcm:v1:<key>:`), so that a store that it wrote can be read with the same
 * configuration. Where the cipher can, the value is bound to its place: it cannot be moved to another key of the store.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** One way with one key. */
export interface Provider {
  /** Begins what it has written; '' for plain text. */
  readonly marker: string
  encrypt(place: string, value: Uint8Array): Buffer
  /** `value` is without the marker. Throws where it is damaged, or the key is not the one it was written with. */
  decrypt(place: string, value: Uint8Array): Buffer
}

/** The names of the ways, as a configuration has them. */
export const ciphers = ['aesgcm', 'aescbc', 'secretbox'] as const
/** One of the ciphers. */
export type Cipher = (typeof ciphers)[number]

/** How many bytes a key may have. */
export const keyLengths: { readonly [C in Cipher]: readonly number[] } = {
  aesgcm: [16, 24, 32],
  aescbc: [16, 24, 32],
  secretbox: [32],
}

/** Leaves values as they are. */
export const identity: Provider = {
  marker: '',
  encrypt: (_, value) => asBuffer(value),
  decrypt: (_, value) => asBuffer(value),
}

const gcmNonce = 12
const gcmTag = 16

/** AES in Galois/counter mode: nonce, sealed text, tag. Bound to its place. */
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
      if (value.length < gcmNonce + gcmTag) throw new Error('it is cut off')
      const [nonce, sealed] = [value.subarray(0, gcmNonce), value.subarray(gcmNonce, -gcmTag)]
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: gcmTag }).setAAD(Buffer.from(place))
      decipher.setAuthTag(value.subarray(-gcmTag))
      return Buffer.concat([decipher.update(sealed), decipher.final()])
    },
  }
}

const block = 16

/** Whether a decrypted value can be what was stored under this key of the store. */
export type StoredValueCheck = (place: string, value: Buffer) => boolean

/**
 * AES in cipher block chaining with padding: initial vector, sealed text. The cipher does not authenticate: under a wrong
 * key, one value in 256 has valid padding and decrypts to garbage. So the decrypted value itself is checked.
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
      if (value.length < 2 * block || value.length % block !== 0) throw new Error('it is cut off')
      const decipher = createDecipheriv(algorithm, key, value.subarray(0, block))
      const plain = Buffer.concat([decipher.update(value.subarray(block)), decipher.final()])
      if (!isStoredValue(place, plain)) throw new Error('the key is another one, or the value is damaged')
      return plain
    },
  }
}

const boxNonce = 24

/** XSalsa20 with Poly1305: nonce, sealed text. Loaded where it is used, as Node has no such cipher. */
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
