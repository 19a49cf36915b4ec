/** Creates certificates for tests. By default, they are currently valid and self-signed. */
import { type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertifiedKey } from '../../src/api/pki/authority.ts'
import { issueCertificate } from '../../src/api/pki/certificate.ts'
import type { Usage } from '../../src/api/pki/certificate-template.ts'
import { generateKey, keyFromPem, keyToPem, publicKeyOf } from '../../src/api/pki/keys.ts'
import type { AlternativeNames } from '../../src/api/pki/names.ts'
import type { Served } from './server.ts'

export interface IdentityOptions {
  readonly commonName: string
  readonly organizations?: readonly string[]
  readonly usages: readonly Usage[]
  readonly issuer?: { readonly certificate: string; readonly key: KeyObject }
  readonly authority?: boolean
  /** Host names and addresses of a server. */
  readonly names?: AlternativeNames
  /** Start of the validity, in milliseconds from now. */
  readonly from?: number
  readonly to?: number
}

const hour = 60 * 60 * 1000

export async function makeIdentity(options: IdentityOptions): Promise<CertifiedKey> {
  const { commonName, organizations = [], usages, authority = false, from = -hour, to = hour } = options
  const key = generateKey()
  const certificate = issueCertificate({
    subject: { commonName, organizations },
    publicKey: publicKeyOf(key),
    issuer: options.issuer ?? { certificate: 'self', key },
    usages,
    authority,
    ...(options.names === undefined ? {} : { names: options.names }),
    notBefore: Date.now() + from,
    notAfter: Date.now() + to,
  })
  return { certificate: new X509Certificate(certificate).toString(), key: keyToPem(key) }
}

/** A key and certificate for a TLS server, with the CA that issued the certificate, in PEM format. */
export interface ServerIdentity extends CertifiedKey {
  readonly authority: string
}

/**
 * Creates a CA and a server certificate without `openssl`, because running it twice for each test server would block
 * this process for longer.
 */
export async function makeServerIdentity(names: AlternativeNames): Promise<ServerIdentity> {
  const authority = await makeIdentity({ commonName: 'test CA', usages: ['cert sign'], authority: true })
  const issuer = asIssuer(authority)
  const own = await makeIdentity({ commonName: 'test server', usages: ['server auth'], issuer, names })
  return { ...own, authority: authority.certificate }
}

/** Returns a certificate with its key from a server's data directory: ca, serving or admin. */
export function pairOf({ directory }: Pick<Served, 'directory'>, name: string): CertifiedKey {
  const read = (ending: string) => readFileSync(join(directory, 'data/pki', `${name}.${ending}`), 'utf8')
  return { certificate: read('crt'), key: read('key') }
}

export function asIssuer({ certificate, key }: CertifiedKey): { certificate: string; key: KeyObject } {
  return { certificate, key: keyFromPem(key) }
}
