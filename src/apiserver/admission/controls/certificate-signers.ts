/**
 * CertificateApproval, CertificateSigning and ClusterTrustBundleAttest check permissions on signers. Users need the
 * verb `approve` to approve or deny a certificate request, `sign` to sign one, and `attest` to write a trust bundle for
 * a signer. The permission must cover either the full name of the signer or all signers in its domain
 * (`example.com/*`).
 */
import { sameJson } from '../../../api/json/json.ts'
import type { CertificateSigningRequest } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import { certificateSigningRequest as certificateSigningRequests } from '../../../api/kinds/certificates/certificate-signing-request.ts'
import type { ClusterTrustBundle } from '../../../api/kinds/certificates/cluster-trust-bundle.ts'
import { clusterTrustBundle as clusterTrustBundles } from '../../../api/kinds/certificates/cluster-trust-bundle.ts'
import { forbiddenError } from '../../../api/model/api-error.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { AdmissionRequest, Control } from '../admission.ts'

interface Parts {
  readonly authorizer: Authorizer
}

/** On every write to `approval`, requires permission to approve certificates for the signer. */
export function certificateApproval({ authorizer }: Parts): Control<CertificateSigningRequest> {
  return {
    name: 'CertificateApproval',
    handles: handled('approval'),
    validate: (request) => assertFor(authorizer, request, { verb: 'approve', ...signerOf(request) }),
  }
}

/**
 * On status updates that change the certificate or conditions, requires permission to sign certificates for the signer.
 */
export function certificateSigning({ authorizer }: Parts): Control<CertificateSigningRequest> {
  return {
    name: 'CertificateSigning',
    handles: handled('status'),
    validate: async (request) => {
      if (signs(request.oldObject) === signs(request.object)) return
      await assertFor(authorizer, request, { verb: 'sign', ...signerOf(request) })
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

/** Checks new and changed trust bundles that name a signer. */
export function clusterTrustBundleAttest({ authorizer }: Parts): Control<ClusterTrustBundle> {
  return {
    name: 'ClusterTrustBundleAttest',
    handles: { operations: ['CREATE', 'UPDATE'], types: [clusterTrustBundles], subresources: [''] },
    validate: async (request) => {
      const { object, oldObject } = request
      const { signerName = '' } = object.spec ?? {}
      if (signerName === '' || (oldObject !== undefined && sameJson(object.spec, oldObject.spec))) return
      await assertFor(authorizer, request, { verb: 'attest', signerName, what: 'trust bundles' })
    },
  }
}

/** Serializes the fields that only a signer may change, so that these fields can be compared between two objects. */
function signs(object: CertificateSigningRequest | undefined): string {
  const { certificate = '', conditions = [] } = object?.status ?? {}
  return JSON.stringify([certificate, conditions])
}

interface SignerAction {
  readonly verb: 'approve' | 'sign' | 'attest'
  readonly signerName: string
  /** Noun for the object in error messages, such as "certificate request". */
  readonly what: string
}

function signerOf({ oldObject }: AdmissionRequest<CertificateSigningRequest>): Omit<SignerAction, 'verb'> {
  return { signerName: oldObject?.spec?.signerName ?? '', what: 'requests' }
}

async function assertFor(
  authorizer: Authorizer,
  request: AdmissionRequest,
  { verb, signerName, what }: SignerAction,
): Promise<void> {
  const domain = `${signerName.slice(0, Math.max(signerName.indexOf('/'), 0))}/*`
  for (const name of [signerName, domain]) if (await may(authorizer, request, { verb, name })) return
  const { type, name } = request
  const why = `user not permitted to ${verb} ${what} with signerName ${JSON.stringify(signerName)}`
  throw forbiddenError(type, name, `${type.plural}.${type.group} "${name}" is forbidden: ${why}`)
}

async function may(
  authorizer: Authorizer,
  { user, type }: AdmissionRequest,
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
