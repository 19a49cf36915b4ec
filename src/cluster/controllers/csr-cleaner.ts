/**
 * Deletes certificate requests that have served: those that were approved, denied or failed an hour after that, those
 * that nobody decided about after a day, and each when its certificate has expired. A request is deleted only as it was
 * seen. Where the time is not over it is looked at again when it is, and now and then before, as clocks are set.
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
import { unlessGone } from './unless-gone.ts'

export interface CleanerParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly informer: Informer<CertificateSigningRequest>
}

const hourMs = 3_600_000
const decidedMs = hourMs
const pendingMs = 24 * hourMs
/** However far away its end is, a request is looked at after this time: the clock may have been set. */
const longestWaitMs = hourMs / 6

export function csrCleanerLoop(parts: CleanerParts): Loop {
  return {
    name: 'csrcleaner',
    sources: [fromInformer(parts.informer)],
    concurrency: 1,
    reconcile: async (name, signal) => {
      const request = parts.informer.get({ name })
      if (request === undefined || request.metadata.deletionTimestamp !== undefined) return 'done'
      const leftMs = endOf(request) - parts.clock.now()
      if (leftMs > 0) return { afterMs: Math.min(leftMs, longestWaitMs) }
      return await remove(parts, request, signal)
    },
  }
}

/** When it is to go: the earlier of the ends of its state and of its certificate. */
function endOf(request: CertificateSigningRequest): number {
  return Math.min(endOfState(request), endOfCertificate(request))
}

/** A failure is the last state of a request: when it was approved does not count beside it. */
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
    // Bytes that are no certificate, from before they were checked, do not expire; the state ends all the same.
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
    await unlessGone(client.delete(inDomainOf(vendor, kinds.CertificateSigningRequest), { name }, options))
  } catch (error) {
    // It was changed meanwhile, and comes again.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
