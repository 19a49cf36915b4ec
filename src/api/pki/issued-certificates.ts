/**
 * Validates a PEM certificate chain that a signer returned. The chain consists of blocks labeled CERTIFICATE, without
 * header lines, each with one or more certificates. Text around the blocks is ignored. Callers decide whether the chain
 * is trusted or matches a key.
 */

import { X509Certificate } from 'node:crypto'
import { shorten } from '../../base/text/shorten.ts'
import { type Element, expectTag, readSeveral, tags } from './der.ts'
import { MalformedInput } from './malformed-input.ts'
import { readPemBlocks } from './pem.ts'
import { hasOneSignatureAlgorithm } from './tbs.ts'

/** Maximum number of certificates in a chain. TLS handshakes accept fewer. */
const maxCertificates = 100

/** Validates a certificate chain. Throws MalformedInput. */
export function checkCertificateChain(pem: Buffer): void {
  let count = 0
  for (const { label, hasHeaders, bytes } of readPemBlocks(pem)) {
    if (label !== 'CERTIFICATE')
      throw new MalformedInput(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(shorten(label, 100))}`)
    if (hasHeaders) throw new MalformedInput('no PEM block headers are permitted')
    const certificates = readSeveral(bytes)
    if (certificates.length === 0) throw new MalformedInput('a CERTIFICATE PEM block contains no certificate')
    count += certificates.length
    if (count > maxCertificates) throw new MalformedInput(`more than ${maxCertificates} certificates`)
    for (const certificate of certificates) checkCertificate(expectTag(certificate, tags.sequence))
  }
  if (count === 0) throw new MalformedInput('must contain at least one CERTIFICATE PEM block')
}

function checkCertificate({ whole }: Element): void {
  if (!hasOneSignatureAlgorithm(whole)) throw new MalformedInput('a certificate names two signature algorithms')
  try {
    new X509Certificate(whole)
  } catch (cause) {
    throw new MalformedInput('a certificate is malformed', { cause })
  }
}
