/**
 * Service account tokens for the volumes of pods. Each token is bound to its pod and is replaced after 80% of its
 * lifetime or after 24 hours. A token that cannot be replaced is used until it expires.
 */

import type { TokenRequest } from '../../../api/kinds/authentication/token-request.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { subresource } from '../../../client/requests/resource-type.ts'

const tokenRequests = subresource<TokenRequest & ApiObject>(kinds.ServiceAccount, 'token')

/** The audience and lifetime of a service account token. */
export interface WantedToken {
  readonly audience: string
  readonly seconds: number
}

/** A token with its times, in milliseconds since 1970. */
export interface PodToken {
  readonly text: string
  readonly expires: number
  /** Time when the token must be replaced. */
  readonly staleFrom: number
}

const dayMs = 86_400_000

/** Returns when to replace a token: after 80% of its lifetime or one day after it was issued, whichever is earlier. */
export function staleFrom({ expires, seconds }: { readonly expires: number; readonly seconds: number }): number {
  const lifeMs = seconds * 1000
  const issueTime = expires - lifeMs
  return Math.min(issueTime + lifeMs * 0.8, issueTime + dayMs)
}

export class PodTokens {
  readonly #clock: Clock
  readonly #vendor: Vendor
  /** Tokens by pod UID, then by audience and lifetime. */
  readonly #podTokens = new Map<string, Map<string, PodToken>>()

  constructor(clock: Clock, vendor: Vendor) {
    this.#clock = clock
    this.#vendor = vendor
  }

  /** Returns a valid token for the pod. Requests a new token when the current token is due for replacement. */
  async current(pod: Pod, requestedToken: WantedToken, client: Client): Promise<PodToken> {
    const { uid = '' } = pod.metadata
    const podTokens = this.#podTokens.get(uid) ?? new Map<string, PodToken>()
    this.#podTokens.set(uid, podTokens)
    const key = `${requestedToken.seconds} ${requestedToken.audience}`
    const cachedToken = podTokens.get(key)
    const now = this.#clock.now()
    if (cachedToken !== undefined && now < cachedToken.staleFrom) return cachedToken
    try {
      const token = await this.#request(pod, requestedToken, client)
      podTokens.set(key, token)
      return token
    } catch (error) {
      if (cachedToken === undefined || now >= cachedToken.expires) throw error
      return cachedToken
    }
  }

  /** Returns when the first of the pod's tokens must be replaced, or undefined if the pod has no tokens. */
  nextStale({ metadata }: Pod): number | undefined {
    const times = [...(this.#podTokens.get(metadata.uid ?? '')?.values() ?? [])].map((token) => token.staleFrom)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  forget(uid: string): void {
    this.#podTokens.delete(uid)
  }

  async #request({ metadata, spec }: Pod, { audience, seconds }: WantedToken, client: Client): Promise<PodToken> {
    const { namespace = '', name = '', uid = '' } = metadata
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid }
    const response = await client.create(tokenRequests, {
      apiVersion: `${groupName(this.#vendor, 'authentication')}/v1`,
      kind: 'TokenRequest',
      metadata: { namespace, name: spec?.serviceAccountName || 'default' },
      spec: { audiences: audience === '' ? [] : [audience], expirationSeconds: seconds, boundObjectRef },
    })
    const { token = '', expirationTimestamp = '' } = response.status ?? {}
    const expires = Date.parse(expirationTimestamp)
    if (token === '' || Number.isNaN(expires)) throw new Error('the API server issued no token')
    const life = response.spec?.expirationSeconds ?? seconds
    return { text: token, expires, staleFrom: staleFrom({ expires, seconds: Number(life) }) }
  }
}
