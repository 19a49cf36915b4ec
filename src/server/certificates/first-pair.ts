/**
 * The pair that the port shows before the store is open, where the CA of a cluster may lie: the one that the flags name,
 * else the one that an earlier start has left, else one that nobody knows and that no file keeps. Nothing is written: the
 * data directory may be another server's.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { CertifiedKey } from '../../api/pki/authority.ts'
import { issueCertificate } from '../../api/pki/certificate.ts'
import { generateKey, keyToPem, publicKeyOf } from '../../api/pki/keys.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ServerOptions } from '../flags/options.ts'
import { servingFiles } from './certificates.ts'
import { readGivenPair } from './given-pair.ts'

export async function firstPair(options: ServerOptions, clock: Clock): Promise<SecureContextOptions> {
  const pair = readGivenPair(servingFiles(options)) ?? (await pairOfEarlierStart(options)) ?? passingPair(clock)
  return { cert: pair.certificate, key: pair.key }
}

async function pairOfEarlierStart({ dataDir }: ServerOptions): Promise<CertifiedKey | undefined> {
  const read = (name: string) => readFile(join(dataDir, 'pki', name), 'utf8')
  try {
    const [certificate, key] = await Promise.all([read('serving.crt'), read('serving.key')])
    createSecureContext({ cert: certificate, key })
    return { certificate, key }
  } catch {
    // There is none, or none of use: what is wrong with it is told when the certificates are opened.
    return undefined
  }
}

const day = 24 * 60 * 60 * 1000

function passingPair(clock: Clock): CertifiedKey {
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
