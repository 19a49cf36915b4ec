/**
 * Validates root certificates in PEM format. Each block must be a CERTIFICATE without header lines, contain the
 * certificate of a certificate authority, and occur only once.
 */
import { X509Certificate } from 'node:crypto'
import type { Sliced } from '../../base/concurrency/time-slice.ts'
import { shorten } from '../../base/text/shorten.ts'
import { MalformedInput } from './malformed-input.ts'
import { readPemBlocks } from './pem.ts'

/**
 * Validates a bundle of root certificates. Throws MalformedInput. Yields after each certificate, because a bundle can
 * contain thousands.
 */
export function* checkTrustAnchors(pem: Buffer): Sliced<void> {
  const positions = new Map<string, number>()
  let i = 0
  for (const { label, hasHeaders, bytes } of readPemBlocks(pem)) {
    if (label !== 'CERTIFICATE')
      throw new MalformedInput(`entry ${i} has the block type ${JSON.stringify(shorten(label, 100))}`)
    if (hasHeaders) throw new MalformedInput(`entry ${i} has PEM block headers`)
    checkAuthority(bytes, i)
    const encoded = bytes.toString('latin1')
    const first = positions.get(encoded)
    if (first !== undefined) throw new MalformedInput(`duplicate trust anchor (indices ${first} and ${i})`)
    positions.set(encoded, i)
    i++
    yield
  }
  if (i === 0) throw new MalformedInput('at least one trust anchor must be provided')
}

function checkAuthority(der: Buffer, i: number): void {
  let certificate: X509Certificate
  try {
    certificate = new X509Certificate(der)
  } catch (cause) {
    throw new MalformedInput(`entry ${i} does not parse as X.509`, { cause })
  }
  if (!certificate.ca) throw new MalformedInput(`entry ${i} is not the certificate of a certificate authority`)
}
