/**
 * Deletes obsolete CertificateSigningRequests. A request that was approved or denied, or that has failed, is deleted
 * one hour later. A pending request is deleted one day after its creation. A request is also deleted when its
 * certificate expires. Each deletion requires the resourceVersion that was checked. A request that is not due yet is
 * checked again when it is due, and at regular intervals before that because the clock may change.
 */

import { X509Certificate } from 'node:crypto'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import type { CertificateSigningRequest } from './certificate-requests.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface CleanerParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly informer: Informer<CertificateSigningRequest>
}

const hourMs = 3_600_000
const decidedMs = hourMs
const pendingMs = 24 * hourMs
/**
 * Maximum time, in milliseconds, before the loop checks a request again, even if the request is due much later. The
 * limit is needed because the system clock may change.
 */
const maxWaitMs = hourMs / 6

export function csrCleanerLoop(parts: CleanerParts): Loop {
  return {
    name: 'csrcleaner',
    sources: [fromInformer(parts.informer)],
    concurrency: 1,
    reconcile: async (name, signal) => {
      const request = parts.informer.get({ name })
      if (request === undefined || request.metadata.deletionTimestamp !== undefined) return 'done'
      const leftMs = endOf(request) - parts.clock.now()
      if (leftMs > 0) return { afterMs: Math.min(leftMs, maxWaitMs) }
      return await remove(parts, request, signal)
    },
  }
}

/**
 * Returns the time at which to delete the request: one hour after the decision, or one day after the creation if the
 * request is pending. If the certificate expires earlier, returns its expiry time.
 */
function endOf(request: CertificateSigningRequest): number {
  return Math.min(endOfState(request), endOfCertificate(request))
}

/**
 * Condition types whose transition time determines the age of a request, in order of precedence. A failed request was
 * approved before, so Failed comes first.
 */
const statesFromTheLast = ['Failed', 'Denied', 'Approved']

function endOfState({ metadata, status }: CertificateSigningRequest): number {
  const created = Date.parse(metadata.creationTimestamp ?? '')
  const ofType = (state: string) => status?.conditions?.find(({ type }) => type === state)
  const state = statesFromTheLast.map(ofType).find((condition) => condition !== undefined)
  if (state === undefined) return created + pendingMs
  const decided = Date.parse(state.lastUpdateTime ?? state.lastTransitionTime ?? '')
  return (Number.isNaN(decided) ? created : decided) + decidedMs
}

function endOfCertificate({ status }: CertificateSigningRequest): number {
  if (!status?.certificate) return Number.POSITIVE_INFINITY
  try {
    return new X509Certificate(Buffer.from(status.certificate, 'base64')).validToDate.getTime()
  } catch {
    // The certificate cannot be parsed, because it was stored before the server validated certificates. Its expiry is
    // therefore unknown, and only the age of the request counts.
    return Number.POSITIVE_INFINITY
  }
}

async function remove(
  { client, vendor }: CleanerParts,
  { metadata }: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<StepOutcome> {
  const { name = '', uid = '', resourceVersion = '' } = metadata
  const options = { preconditions: { uid, resourceVersion }, signal }
  try {
    await ignoreNotFound(client.delete(inDomainOf(vendor, kinds.CertificateSigningRequest), { name }, options))
  } catch (error) {
    // A conflict needs no retry: the other client's change triggers this loop again.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
