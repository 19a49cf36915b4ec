/**
 * CertificateDenyList: client certificates that no longer count, although their authority vouches for them and they
 * have not expired. All lists count together; every server acts on them at once (`apiserver/authn/denied-certificates.ts`).
 */
import { child, type FieldError, type FieldPath, invalid, required, tooMany } from '../../model/field-error.ts'
import { ageColumn, type Column, column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'

/** Of one list; there may be several. */
const maxCertificates = 10_000

const certificateFields = {
  serialNumber: field(1, s.string(), {
    doc: 'The serial number in hexadecimal, as openssl prints it (`4A:3F` or `4a3f`): of whichever authority.',
  }),
  fingerprint: field(2, s.string(), {
    doc: 'The SHA-256 of the certificate in hexadecimal, with or without colons. That of an intermediate authority denies all that it has signed.',
  }),
  reason: field(3, s.string(), { doc: 'Why, for people.' }),
}

const certificate = s.object(certificateFields, {
  name: 'DeniedCertificate',
  doc: 'A certificate, by its serial number or by its fingerprint.',
  check: checkCertificate,
})

const specFields = {
  certificates: field(1, s.list(certificate), { doc: 'The certificates that do not count.' }),
}

const spec = s.object(specFields, {
  name: 'CertificateDenyListSpec',
  doc: 'Which certificates are denied.',
  check: checkCount,
})

const fields = { spec: field(2, spec, { zero: 'write', doc: 'Which certificates are denied.' }) }

export type CertificateDenyList = ObjectOf<typeof fields>

const columns: readonly Column<CertificateDenyList>[] = [
  nameColumn,
  {
    ...column('Certificates', 'How many it denies.', (object) => object.spec?.certificates?.length ?? 0),
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
  doc: 'Client certificates that are no longer accepted. Servers apply it within a second, and close the connections of clients that use one.',
  fields,
  views: { columns },
})

/** In the one spelling in which numbers are compared: digits in lower case, without colons and leading zeros. */
export function plainHex(text: string): string {
  return text
    .replaceAll(':', '')
    .toLowerCase()
    .replace(/^0+(?=.)/, '')
}

function checkCertificate(value: InferFields<typeof certificateFields>, path: FieldPath): FieldError[] {
  const { serialNumber = '', fingerprint = '' } = value
  if (serialNumber === '' && fingerprint === '') return [required(path, 'a serialNumber or a fingerprint is needed')]
  if (serialNumber !== '' && fingerprint !== '')
    return [invalid(path, serialNumber, 'a serialNumber or a fingerprint, not both')]
  if (fingerprint !== '' && !isHex(fingerprint, 64, 64))
    return [invalid(path, fingerprint.slice(0, 100), 'a fingerprint has 64 hexadecimal digits')]
  if (serialNumber !== '' && !isHex(serialNumber, 1, 40))
    return [invalid(path, serialNumber.slice(0, 100), 'a serial number has 1 to 40 hexadecimal digits')]
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
