/**
 * The certificate for the port until the store is open, because the CA may be in the store. If flags specify a
 * certificate, the port uses it. Otherwise, the port uses the certificate from an earlier start or, if there is none, a
 * temporary self-signed certificate. No file is written, because the data directory may belong to another server.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { issueCertificate } from '../../api/pki/certificate.ts'
import { generateKey, keyToPem, publicKeyOf } from '../../api/pki/keys.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ServerOptions } from '../flags/options.ts'
import { readCertificateFiles } from './certificate-files.ts'
import { servingFiles } from './certificates.ts'

export async function bootstrapCertificate(options: ServerOptions, clock: Clock): Promise<SecureContextOptions> {
  const pair =
    readCertificateFiles(servingFiles(options)) ??
    (await certificateOfEarlierStart(options)) ??
    temporaryCertificate(clock)
  return { cert: pair.certificate, key: pair.key }
}

async function certificateOfEarlierStart({ dataDir }: ServerOptions): Promise<CertifiedKey | undefined> {
  const read = (name: string) => readFile(join(dataDir, 'pki', name), 'utf8')
  try {
    const [certificate, key] = await Promise.all([read('serving.crt'), read('serving.key')])
    createSecureContext({ cert: certificate, key })
    return { certificate, key }
  } catch {
    // Return undefined here. The error is reported later, when the certificates are opened.
    return undefined
  }
}

const day = 24 * 60 * 60 * 1000

function temporaryCertificate(clock: Clock): CertifiedKey {
  const key = generateKey()
  const certificate = issueCertificate({
    subject: { commonName: 'orch-starting', organizations: [] },
    publicKey: publicKeyOf(key),
    issuer: { certificate: 'self', key },
    usages: ['digital signature', 'server auth'],
    notBefore: clock.now() - day,
    notAfter: clock.now() + day,
  })
  return { certificate, key: keyToPem(key) }
}
