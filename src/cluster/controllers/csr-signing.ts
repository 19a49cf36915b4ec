/**
 * Signs approved requests of the four built-in signers, each with its own authority. A request that breaks a rule of
 * its signer gets the condition Failed, with every rule that it breaks; one that nobody has approved, or that has failed
 * or is signed, is left alone, and so is every other signer's.
 *
 * The certificate lives as long as the request wants, at least ten minutes and at most as long as the flag says. It is
 * written to the very version that was judged: of two signers one writes, and a certificate is never replaced.
 */

import type { Vendor } from '../../api/model/vendor.ts'
import { type SignerId, signerFaults } from '../../api/pki/built-in-signers.ts'
import type { Issuer } from '../../api/pki/certificate-template.ts'
import { MalformedInput } from '../../api/pki/malformed-input.ts'
import { judgedPart } from '../../api/pki/requested-names.ts'
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
import { unlessGone } from './unless-gone.ts'

/** The authority of each signer, as it is now; a signer without one signs nothing. */
export type SigningAuthorities = { readonly [id in SignerId]?: () => Issuer }

export interface SigningParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly informer: Informer<CertificateSigningRequest>
  readonly authorities: SigningAuthorities
  /** The longest life of a certificate. */
  readonly longestMs: number
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

/** The status with the certificate, or with why there is none. */
function answer(
  { clock, longestMs }: SigningParts,
  request: CertificateSigningRequest,
  { signer, authority }: { signer: SignerId; authority: () => Issuer },
): Status {
  const { spec = {}, status = {} } = request
  const { usages = [], expirationSeconds } = spec
  const decoded = decodeRequest(request)
  const faults =
    decoded instanceof MalformedInput ? [decoded.message] : signerFaults(signer, judgedPart(decoded), usages)
  if (faults.length > 0 || decoded instanceof MalformedInput) {
    const failed = newCondition('Failed', 'SignerValidationFailure', shorten(faults.join('; '), maxMessage))
    return { ...status, conditions: [...(status.conditions ?? []), failed] }
  }
  const lifeMs = lifeOf(expirationSeconds, longestMs)
  const pem = signRequest({ request: decoded, usages, issuer: authority(), lifeMs, now: clock.now() })
  return { ...status, certificate: Buffer.from(pem).toString('base64') }
}

function lifeOf(expirationSeconds: number | undefined, longestMs: number): number {
  if (expirationSeconds === undefined) return longestMs
  return Math.min(longestMs, Math.max(shortestMs, expirationSeconds * 1000))
}

async function write(
  { client, vendor }: SigningParts,
  next: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<StepOutcome> {
  try {
    await unlessGone(
      client.update(inDomainOf(vendor, kinds.CertificateSigningRequest), next, { subresource: 'status', signal }),
    )
  } catch (error) {
    // Somebody has changed it meanwhile: that change comes here too.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
