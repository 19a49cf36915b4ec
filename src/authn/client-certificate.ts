/** Client certificates: the common name is the user, each organization a group. */
import type { X509Certificate } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { User } from '../model/user.ts'
import { readSubject } from '../pki/identity.ts'
import { type Authenticator, none, refused } from './authenticator.ts'

/** Connections outlive certificates, so their times are checked on every request. */
export function clientCertificates(clock: Clock): Authenticator {
  const known = new WeakMap<X509Certificate, Reading>()
  return ({ certificate }) => {
    if (certificate === undefined) return none
    if (!certificate.trusted) return refused
    const reading = known.get(certificate.x509) ?? read(certificate.x509)
    known.set(certificate.x509, reading)
    const now = clock.now()
    if (reading.user === undefined || now < reading.from || now > reading.to) return refused
    return { result: 'user', user: reading.user }
  }
}

interface Reading {
  readonly user: User | undefined
  readonly from: number
  readonly to: number
}

function read(x509: X509Certificate): Reading {
  const { commonName, organizations } = readSubject(x509.raw)
  const user = commonName ? { name: commonName, uid: '', groups: organizations, extra: new Map() } : undefined
  return { user, from: x509.validFromDate.getTime(), to: x509.validToDate.getTime() }
}
