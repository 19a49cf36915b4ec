/**
 * CertificateSubjectRestriction: nobody gets a client certificate of this cluster that makes its holder a superuser,
 * whoever would approve it. A certificate cannot be taken back, so that right is not given by one.
 */
import { forbiddenError } from '../../model/api-error.ts'
import { superusers } from '../../model/user.ts'
import { groupName, type Vendor, vendorKey } from '../../model/vendor.ts'
import { readCertificateRequest } from '../../pki/certificate-request.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

const plural = 'certificatesigningrequests'

export function certificateSubjectRestriction(vendor: Vendor): Control {
  const group = groupName(vendor, 'certificates')
  const signer = vendorKey(vendor, vendor.clientSigner)
  return {
    name: 'CertificateSubjectRestriction',
    // The object is valid by now, so its request can be read.
    validate: (request) => {
      if (request.group !== group || request.plural !== plural || !isNew(request)) return
      const { spec, metadata } = request.object as { spec?: Spec; metadata: { name?: string } }
      if (spec?.signerName !== signer || !asksForSuperuser(spec)) return
      const why = `use of ${signer} signer with ${superusers} group is not allowed`
      const name = metadata.name ?? ''
      throw forbiddenError({ group, plural }, name, `${plural}.${group} "${name}" is forbidden: ${why}`)
    },
  }
}

interface Spec {
  readonly signerName?: string
  readonly request?: string
}

function isNew({ operation, subresource }: AdmissionRequest): boolean {
  return operation === 'CREATE' && subresource === ''
}

function asksForSuperuser({ request = '' }: Spec): boolean {
  const { subject } = readCertificateRequest(Buffer.from(request, 'base64'))
  return subject.organizations.includes(superusers)
}
