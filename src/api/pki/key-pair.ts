/** Checks that a certificate and a private key in PEM belong together, as a TLS server requires. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { type PemBlock, readPemBlocks } from './pem.ts'

/**
 * Returns the reason why a TLS server cannot use a certificate and a key together, or undefined if it can. Compares the
 * first certificate with the first key.
 */
export function keyPairFault(certificates: Buffer, keys: Buffer): string | undefined {
  const certificate = firstBlock(certificates, isCertificate)
  if (certificate === undefined) return missingBlock(certificates, 'certificate')
  const key = firstBlock(keys, isPrivateKey)
  if (key === undefined) return missingBlock(keys, 'key')
  const x509 = readOr(() => new X509Certificate(certificate.bytes))
  if (x509 === undefined) return 'failed to parse the certificate'
  const privateKey = readKey(key)
  if (privateKey === undefined) return 'failed to parse private key'
  return x509.checkPrivateKey(privateKey) ? undefined : 'private key does not match public key'
}

const isCertificate = ({ label }: PemBlock) => label === 'CERTIFICATE'
const isPrivateKey = ({ label }: PemBlock) => label === 'PRIVATE KEY' || label.endsWith(' PRIVATE KEY')

function firstBlock(pem: Buffer, matches: (block: PemBlock) => boolean): PemBlock | undefined {
  for (const block of readPemBlocks(pem)) if (matches(block)) return block
  return undefined
}

function missingBlock(pem: Buffer, expected: 'certificate' | 'key'): string {
  const other = firstBlock(pem, () => true)
  if (other === undefined) return `failed to find any PEM data in ${expected} input`
  const isSwitched = expected === 'key' ? isCertificate(other) : isPrivateKey(other)
  const hint = isSwitched ? '; the certificate and the key may have been switched' : ''
  return `failed to find a ${expected} in the PEM data of the ${expected} input${hint}`
}

/** Parses a private key. An encrypted key cannot be read, because the server has no passphrase. */
function readKey({ label, bytes }: PemBlock): KeyObject | undefined {
  const pem = `-----BEGIN ${label}-----\n${bytes.toString('base64')}\n-----END ${label}-----\n`
  return readOr(() => createPrivateKey(pem))
}

function readOr<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    // Drop the error, because its message may quote the key. Callers report a generic message.
    return undefined
  }
}
