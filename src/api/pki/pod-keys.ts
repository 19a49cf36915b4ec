/**
 * Validates the keys in requests for pod certificates: the algorithms, and the proofs that the requester has the
 * private key.
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { readRequestDer } from './certificate-request.ts'
import { MalformedInput } from './malformed-input.ts'

/** Validates a PKIX public key and the signature of the pod UID. Throws MalformedInput. */
export function checkPodKey(der: Buffer, { podUID, proof }: { podUID: string; proof: Buffer }): void {
  const key = readKey(der)
  checkAlgorithm(key)
  if (!isProof(key, Buffer.from(podUID), proof)) throw new MalformedInput('the proof of possession is not valid')
}

/** Validates a PKCS #10 request in DER format: its signature and the algorithm of its key. Throws MalformedInput. */
export function checkStubRequest(der: Buffer): void {
  checkAlgorithm(readRequestDer(der).publicKey)
}

function readKey(der: Buffer): KeyObject {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch (cause) {
    throw new MalformedInput('must be a PKIX public key', { cause })
  }
}

const curves = ['prime256v1', 'secp384r1', 'secp521r1']
const rsaBits = [3072, 4096]

function checkAlgorithm({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): void {
  const isAllowed =
    type === 'ed25519' ||
    (type === 'ec' && curves.includes(details?.namedCurve ?? '')) ||
    (type === 'rsa' && rsaBits.includes(details?.modulusLength ?? 0))
  if (!isAllowed)
    throw new MalformedInput('the key must be RSA with 3072 or 4096 bits, ECDSA on P-256, P-384 or P-521, or Ed25519')
}

function isProof(key: KeyObject, text: Buffer, proof: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, text, key, proof)
  if (key.asymmetricKeyType === 'ec') return verify('sha256', text, key, proof)
  return verify('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING }, proof)
}
