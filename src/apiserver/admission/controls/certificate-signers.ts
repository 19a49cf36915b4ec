/**
 * CertificateApproval and CertificateSigning: approving, denying or signing a certificate request requires permission
 * for its signer: the verb `approve` or `sign` on `signers`, for the full signer name or its domain, `example.com/*`.
 */

import type { CertificateSigningRequest } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { certificateSigningRequest as certificateSigningRequests } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { forbiddenError } from '../../../api/model/api-error.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

interface Parts {
  readonly authorizer: Authorizer
}

/** Checks every write to the `approval` subresource. */
export function certificateApproval({ authorizer }: Parts): Control<CertificateSigningRequest> {
  return {
    name: 'CertificateApproval',
    handles: handled('approval'),
    validate: (request) => assertFor(authorizer, request, 'approve'),
  }
}

/** Checks writes to `status` that change the certificate or the conditions. */
export function certificateSigning({ authorizer }: Parts): Control<CertificateSigningRequest> {
  return {
    name: 'CertificateSigning',
    handles: handled('status'),
    validate: async (request) => {
      if (signs(request.oldObject) === signs(request.object)) return
      await assertFor(authorizer, request, 'sign')
    },
  }
}

function handled(subresource: string): Control<CertificateSigningRequest>['handles'] {
  return {
    operations: ['UPDATE'],
    types: [certificateSigningRequests],
    subresources: [subresource],
  }
}

/** Returns the signer's fields as text for comparison. */
function signs(object: CertificateSigningRequest | undefined): string {
  const { certificate = '', conditions = [] } = object?.status ?? {}
  return JSON.stringify([certificate, conditions])
}

async function assertFor(
  authorizer: Authorizer,
  request: AdmissionRequest<CertificateSigningRequest>,
  verb: 'approve' | 'sign',
): Promise<void> {
  const { signerName = '' } = request.oldObject?.spec ?? {}
  const domain = `${signerName.slice(0, Math.max(signerName.indexOf('/'), 0))}/*`
  for (const name of [signerName, domain]) if (await may(authorizer, request, { verb, name })) return
  const { type, name } = request
  const why = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`
  throw forbiddenError(type, name, `${type.plural}.${type.group} "${name}" is forbidden: ${why}`)
}

async function may(
  authorizer: Authorizer,
  { user, type }: AdmissionRequest<CertificateSigningRequest>,
  { verb, name }: { verb: string; name: string },
): Promise<boolean> {
  const decision = await authorizer({
    user,
    attributes: {
      resource: true,
      verb,
      group: type.group,
      version: '*',
      plural: 'signers',
      subresource: '',
      namespace: '',
      name,
    },
  })
  return decision.verdict === 'allow'
}
