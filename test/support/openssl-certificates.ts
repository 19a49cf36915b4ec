/** Creates certificates with the `openssl` program, in a directory that the test provides. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertifiedKey } from '../../src/api/pki/authority.ts'
import { openssl } from '../api/pki/openssl.ts'

export interface WantedCertificate {
  /** Subject in openssl's format, such as `/O=dev/CN=jane`. */
  readonly subject: string
  /** Issuer of the certificate. The certificate is self-signed if the issuer is undefined. */
  readonly issuer?: OpensslCertificate
  /** Extension lines such as `extendedKeyUsage=clientAuth`. */
  readonly extensions?: readonly string[]
  readonly days?: number
}

/** A certificate and its key, with the paths of their files. */
export interface OpensslCertificate extends CertifiedKey {
  readonly certificateFile: string
  readonly keyFile: string
}

export const authorityExtensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign']
export const clientExtensions = ['basicConstraints=CA:FALSE', 'extendedKeyUsage=clientAuth']
export const serverExtensions = ['extendedKeyUsage=serverAuth', 'subjectAltName=IP:127.0.0.1,DNS:localhost']

/** Returns a function that creates certificates in the given directory. */
export function certificatesIn(directory: string): (wanted: WantedCertificate) => OpensslCertificate {
  let createdCount = 0
  return ({ subject, issuer, extensions = clientExtensions, days = 10 }) => {
    const name = join(directory, `made-${++createdCount}`)
    const certificateFile = `${name}.crt`
    const keyFile = `${name}.key`
    openssl([
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-utf8',
        '-config',
        '/dev/null',
      ],
      ...['-subj', subject, '-days', String(days), '-keyout', keyFile, '-out', certificateFile],
      ...(issuer === undefined ? [] : ['-CA', issuer.certificateFile, '-CAkey', issuer.keyFile]),
      ...extensions.flatMap((extension) => ['-addext', extension]),
    ])
    const read = (file: string) => readFileSync(file, 'utf8')
    return { certificateFile, keyFile, certificate: read(certificateFile), key: read(keyFile) }
  }
}
