/**
 * CertificateSubjectRestriction: rejects requests for client certificates of the superuser group, so that no approver
 * can grant them. Certificates cannot be revoked, so no certificate may contain that group.
 */
import type { CertificateSigningRequest } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { certificateSigningRequest as certificateSigningRequests } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { forbiddenError } from '../../../api/model/api-error.ts'
import { superusers } from '../../../api/model/user.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { readCertificateRequest } from '../../../api/pki/certificate-request.ts'
import type { Control } from '../admission.ts'

export function certificateSubjectRestriction({
  vendor,
}: {
  readonly vendor: Vendor
}): Control<CertificateSigningRequest> {
  const signer = vendor.signers.client
  return {
    name: 'CertificateSubjectRestriction',
    handles: {
      operations: ['CREATE'],
      types: [certificateSigningRequests],
      subresources: [''],
    },
    // The object is already validated, so its certificate request can be parsed without errors.
    validate: ({ type, object }) => {
      const { spec, metadata } = object
      if (spec?.signerName !== signer || !asksForSuperuser(spec)) return
      const why = `use of ${signer} signer with ${superusers} group is not allowed`
      const name = metadata.name ?? ''
      throw forbiddenError(type, name, `${type.plural}.${type.group} "${name}" is forbidden: ${why}`)
    },
  }
}

function asksForSuperuser({ request = '' }: NonNullable<CertificateSigningRequest['spec']>): boolean {
  const { subject } = readCertificateRequest(Buffer.from(request, 'base64'))
  return subject.organizations.includes(superusers)
}
