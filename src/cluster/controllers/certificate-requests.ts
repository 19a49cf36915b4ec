/** Decodes CertificateSigningRequests and creates their conditions, for the loops that handle the requests. */

import type { CertificateSigningRequest } from '../../api/kinds/certificates/certificate-signing-request.ts'
import { type CertificateRequest, readCertificateRequest } from '../../api/pki/certificate-request.ts'
import { MalformedInput } from '../../api/pki/malformed-input.ts'

export type { CertificateSigningRequest }
export type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number]

export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type)
}

/** Whether the request has been neither approved nor denied and has not failed. */
export function isPending(request: CertificateSigningRequest): boolean {
  return !['Approved', 'Denied', 'Failed'].some((type) => hasCondition(request, type))
}

/**
 * Decodes the request, or returns the parse error. Decoding can fail because a request may have been stored before the
 * current validation rules existed.
 */
export function decodeRequest({ spec }: CertificateSigningRequest): CertificateRequest | MalformedInput {
  try {
    return readCertificateRequest(Buffer.from(spec?.request ?? '', 'base64'))
  } catch (error) {
    if (error instanceof MalformedInput) return error
    throw error
  }
}

/** Creates a condition without timestamps, because the server sets them. */
export function newCondition(type: 'Approved' | 'Denied' | 'Failed', reason: string, message: string): Condition {
  return { type, status: 'True', reason, message } as Condition
}
