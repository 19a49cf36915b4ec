/** An in-memory CA and templates for tests. */
import type { KeyObject } from 'node:crypto'
import { issueCertificate } from '../../../src/api/pki/certificate.ts'
import type { CertificateTemplate } from '../../../src/api/pki/certificate-template.ts'
import { generateKey, publicKeyOf } from '../../../src/api/pki/keys.ts'

export const now = Date.UTC(2030, 5, 1, 12)
export const day = 24 * 60 * 60 * 1000

export interface TestAuthority {
  readonly certificate: string
  readonly key: KeyObject
}

export async function makeAuthority(): Promise<TestAuthority> {
  const key = generateKey()
  const certificate = issueCertificate({
    ...common(key),
    subject: { commonName: 'test-ca', organizations: [] },
    issuer: { certificate: 'self', key },
    usages: ['cert sign', 'crl sign'],
    authority: true,
  })
  return { certificate, key }
}

/** Returns a template for a client certificate, with the given changes. */
export function template(issuer: TestAuthority, changes: Partial<CertificateTemplate> = {}): CertificateTemplate {
  return {
    ...common(generateKey()),
    subject: { commonName: 'someone', organizations: ['one', 'two'] },
    issuer,
    usages: ['digital signature', 'client auth'],
    ...changes,
  }
}

function common(key: KeyObject) {
  return { publicKey: publicKeyOf(key), notBefore: now - day, notAfter: now + 30 * day }
}
