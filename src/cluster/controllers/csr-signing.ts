/**
 * Signs approved requests for the four built-in signers, each with its own CA. A request that violates its signer's
 * rules gets the condition Failed, which lists all violations. The loop ignores requests that are not approved, are
 * already signed, have failed, or are addressed to other signers.
 *
 * The certificate is valid for the requested duration, but for at least ten minutes and at most the maximum set by the
 * flag. The status is written with the resourceVersion that was checked, so that only one of two concurrent signers
 * succeeds and a certificate is never replaced.
 */

import type { Vendor } from '../../api/model/vendor.ts'
import { type SignerId, signerFaults } from '../../api/pki/built-in-signers.ts'
import type { Issuer } from '../../api/pki/certificate-template.ts'
import { MalformedInput } from '../../api/pki/malformed-input.ts'
import { signerRelevantPart } from '../../api/pki/requested-names.ts'
import { signRequest } from '../../api/pki/sign-request.ts'
import { shorten } from '../../base/text/shorten.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { type CertificateSigningRequest, decodeRequest, hasCondition, newCondition } from './certificate-requests.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

/** Returns the current CA of each signer. A signer without a CA signs nothing. */
export type SigningAuthorities = { readonly [id in SignerId]?: () => Issuer }

export interface SigningParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly informer: Informer<CertificateSigningRequest>
  readonly authorities: SigningAuthorities
  /** Maximum lifetime of a certificate, in milliseconds. */
  readonly maxLifetimeMs: number
}

const shortestMs = 10 * 60_000
const maxMessage = 2048

export function csrSigningLoop(parts: SigningParts): Loop {
  return {
    name: 'csrsigning',
    sources: [fromInformer(parts.informer)],
    concurrency: 5,
    reconcile: async (name, signal) => {
      const request = parts.informer.get({ name })
      if (request === undefined || !isWaiting(request)) return 'done'
      const signer = signerOf(parts.vendor, request)
      const authority = signer && parts.authorities[signer]
      if (signer === undefined || authority === undefined) return 'done'
      return await write(parts, { ...request, status: answer(parts, request, { signer, authority }) }, signal)
    },
  }
}

function isWaiting(request: CertificateSigningRequest): boolean {
  return hasCondition(request, 'Approved') && !hasCondition(request, 'Failed') && !request.status?.certificate
}

function signerOf({ signers }: Vendor, { spec }: CertificateSigningRequest): SignerId | undefined {
  return (Object.keys(signers) as SignerId[]).find((id) => signers[id] === spec?.signerName)
}

type Status = NonNullable<CertificateSigningRequest['status']>

/** Returns the status with either the certificate or the Failed condition. */
function answer(
  { clock, maxLifetimeMs }: SigningParts,
  request: CertificateSigningRequest,
  { signer, authority }: { signer: SignerId; authority: () => Issuer },
): Status {
  const { spec = {}, status = {} } = request
  const { usages = [], expirationSeconds } = spec
  const decoded = decodeRequest(request)
  const faults =
    decoded instanceof MalformedInput ? [decoded.message] : signerFaults(signer, signerRelevantPart(decoded), usages)
  if (faults.length > 0 || decoded instanceof MalformedInput) {
    const failed = newCondition('Failed', 'SignerValidationFailure', shorten(faults.join('; '), maxMessage))
    return { ...status, conditions: [...(status.conditions ?? []), failed] }
  }
  const lifeMs = lifeOf(expirationSeconds, maxLifetimeMs)
  const pem = signRequest({ request: decoded, usages, issuer: authority(), lifeMs, now: clock.now() })
  return { ...status, certificate: Buffer.from(pem).toString('base64') }
}

function lifeOf(expirationSeconds: number | undefined, maxLifetimeMs: number): number {
  if (expirationSeconds === undefined) return maxLifetimeMs
  return Math.min(maxLifetimeMs, Math.max(shortestMs, expirationSeconds * 1000))
}

async function write(
  { client, vendor }: SigningParts,
  next: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    await ignoreNotFound(
      client.update(inDomainOf(vendor, kinds.CertificateSigningRequest), next, { subresource: 'status', signal }),
    )
  } catch (error) {
    // A conflict needs no retry: the other client's change triggers this loop again.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
