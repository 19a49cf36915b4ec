/** What the loops on certificate requests share: the conditions of a request, and how a request is read. */

import type { CertificateSigningRequest } from '../../api/kinds/certificates/certificate-signing-request.ts'
import { type CertificateRequest, readCertificateRequest } from '../../api/pki/certificate-request.ts'
import { MalformedInput } from '../../api/pki/malformed-input.ts'

export type { CertificateSigningRequest }
export type Condition = NonNullable<NonNullable<CertificateSigningRequest['status']>['conditions']>[number]

export function hasCondition({ status }: CertificateSigningRequest, type: string): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type)
}

/** Whether nobody has decided about it, nor failed at it. */
export function isPending(request: CertificateSigningRequest): boolean {
  return !['Approved', 'Denied', 'Failed'].some((type) => hasCondition(request, type))
}

/** What it asks for, or what is wrong with its bytes: what is stored may be older than today's checks. */
export function decodeRequest({ spec }: CertificateSigningRequest): CertificateRequest | MalformedInput {
  try {
    return readCertificateRequest(Buffer.from(spec?.request ?? '', 'base64'))
  } catch (error) {
    if (error instanceof MalformedInput) return error
    throw error
  }
}

/** A condition to be added; the server sets its times. */
export function newCondition(type: 'Approved' | 'Denied' | 'Failed', reason: string, message: string): Condition {
  return { type, status: 'True', reason, message } as Condition
}
