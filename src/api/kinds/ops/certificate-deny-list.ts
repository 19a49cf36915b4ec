/**
 * A CertificateDenyList contains client certificates that are rejected although they are trusted and have not expired.
 * All lists apply at the same time, and every server enforces them immediately
 * (`apiserver/authn/denied-certificates.ts`).
 */
import { child, type FieldError, type FieldPath, invalid, required, tooMany } from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

/** Maximum number of certificates in one list. A cluster can have several lists. */
const maxCertificates = 10_000

const certificateFields = {
  serialNumber: field(1, s.string(), {
    doc: 'Serial number in hexadecimal, for example `4A:3F` or `4a3f`. Matches certificates with this number from any issuer.',
  }),
  fingerprint: field(2, s.string(), {
    doc: 'SHA-256 fingerprint in hexadecimal. The fingerprint of an intermediate CA also denies all certificates that the CA issued.',
  }),
  reason: field(3, s.string(), { doc: 'Human-readable reason for the denial.' }),
}

const certificate = s.object(certificateFields, {
  name: 'DeniedCertificate',
  doc: 'A denied certificate, identified by either its serial number or its fingerprint.',
  check: checkCertificate,
})

const specFields = {
  certificates: field(1, s.list(certificate), { doc: 'Denied certificates. At most 10000 certificates per list.' }),
}

const spec = s.object(specFields, {
  name: 'CertificateDenyListSpec',
  doc: 'Specification of a CertificateDenyList.',
  check: checkCount,
})

const fields = { spec: field(2, spec, { zeroValue: 'write', doc: 'Denied certificates.' }) }

export type CertificateDenyList = ObjectOf<typeof fields>

const columns: readonly Column<CertificateDenyList>[] = [
  nameColumn,
  {
    ...column('Certificates', 'Number of denied certificates.', (object) => object.spec?.certificates?.length ?? 0),
    type: 'integer',
  },
  ageColumn,
]

export const certificateDenyList = defineKind({
  names: {
    group: 'ops',
    version: 'v1',
    kind: 'CertificateDenyList',
    plural: 'certificatedenylists',
    scope: 'Cluster',
  },
  doc: 'Client certificates that servers reject. Servers apply the list within a second and close affected connections.',
  fields,
  views: { columns },
})

/** Normalizes a hexadecimal number for comparison: converts it to lower case, and removes colons and leading zeros. */
export function plainHex(text: string): string {
  return text
    .replaceAll(':', '')
    .toLowerCase()
    .replace(/^0+(?=.)/, '')
}

function checkCertificate(value: InferFields<typeof certificateFields>, path: FieldPath): FieldError[] {
  const { serialNumber = '', fingerprint = '' } = value
  if (serialNumber === '' && fingerprint === '') return [required(path, 'a serialNumber or a fingerprint is required')]
  if (serialNumber !== '' && fingerprint !== '')
    return [invalid(path, serialNumber, 'must have either a serialNumber or a fingerprint')]
  if (fingerprint !== '' && !isHex(fingerprint, 64, 64))
    return [invalid(path, fingerprint.slice(0, 100), 'must consist of 64 hexadecimal digits')]
  if (serialNumber !== '' && !isHex(serialNumber, 1, 40))
    return [invalid(path, serialNumber.slice(0, 100), 'must consist of 1 to 40 hexadecimal digits')]
  return []
}

function isHex(text: string, least: number, most: number): boolean {
  const digits = text.replaceAll(':', '')
  return text.length <= 2 * most && digits.length >= least && digits.length <= most && /^[0-9a-fA-F]+$/.test(digits)
}

function checkCount({ certificates = [] }: InferFields<typeof specFields>, path: FieldPath): FieldError[] {
  if (certificates.length <= maxCertificates) return []
  return [tooMany(child(path, 'certificates'), certificates.length, maxCertificates)]
}
