/** Encodes the subject of a certificate as a Name in DER: its organizations, then its common name. */
import type { CertificateSubject } from './certificate-template.ts'
import { tags } from './der.ts'
import { element, identifier, sequence, text } from './encode-der.ts'

const commonNameId = '550403'
const organizationId = '55040a'

export function writeName({ commonName, organizations }: CertificateSubject): Buffer {
  const part = (id: string, value: string) => element(tags.set, sequence(identifier(id), text(value)))
  return sequence(...organizations.map((each) => part(organizationId, each)), part(commonNameId, commonName))
}
