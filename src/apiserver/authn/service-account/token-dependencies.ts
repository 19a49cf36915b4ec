/**
 * Whether what a token depends on is still there: its account, and the pod or secret that it is bound to. Each is told
 * by its uid, so that one of the same name that came later does not count; a legacy token is told by the secret that
 * holds it. What is being deleted counts as gone, but a pod only when its time to end is over: it needs its token to
 * end well.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Secret } from '../../../api/kinds/core/secret.ts'
import { secret as secrets } from '../../../api/kinds/core/secret.ts'
import { serviceAccount as serviceAccounts } from '../../../api/kinds/core/service-account.ts'
import type { Found, Lookup } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { SignedToken } from './signatures.ts'

export interface HolderOptions {
  readonly lookup: Lookup
  readonly clock: Clock
  /** False: a legacy token is good without its account and secret. */
  readonly lookupLegacy: boolean
}

/** Checks that the account, pod and Secret of a token still exist. */
export class TokenDependencies {
  readonly #lookup: Lookup
  readonly #clock: Clock
  readonly #lookupLegacy: boolean
  /** The objects, as they were, on which a token was found good: while nothing changed they need not be read again. */
  readonly #good = new WeakMap<SignedToken, readonly (Found | undefined)[]>()

  constructor({ lookup, clock, lookupLegacy }: HolderOptions) {
    this.#lookup = lookup
    this.#clock = clock
    this.#lookupLegacy = lookupLegacy
  }

  /** By what this server holds. */
  exist(token: SignedToken): boolean {
    const { namespace, account, pod, secret, legacy } = token.claims
    if (legacy && !this.#lookupLegacy) return true
    const found = [
      this.#lookup.getCached(serviceAccounts, { namespace, name: account.name }),
      pod && this.#lookup.getCached(pods, { namespace, name: pod.name }),
      secret && this.#lookup.getCached(secrets, { namespace, name: secret.name }),
    ] as const
    const good = this.#good.get(token)
    if (good?.every((each, i) => each === found[i])) return true
    return this.#judge(token, found)
  }

  #judge(token: SignedToken, found: readonly (Found | undefined)[]): boolean {
    const { account, pod, secret, legacy } = token.claims
    const [ofAccount, ofPod, ofSecret] = found.map((each) => each?.object)
    const stands =
      isThere(ofAccount, account.uid) &&
      (pod === undefined || this.#isPodThere(ofPod, pod.uid)) &&
      (secret === undefined || isThere(ofSecret, secret.uid)) &&
      (!legacy || holdsToken(ofSecret!, token.hash))
    // A pod that is ending does not change when its time is over.
    if (stands && !ofPod?.metadata.deletionTimestamp) this.#good.set(token, found)
    return stands
  }

  #isPodThere(pod: ApiObject | undefined, uid: string | undefined): boolean {
    const end = pod?.metadata.deletionTimestamp
    return pod?.metadata.uid === uid && (end === undefined || Date.parse(end) > this.#clock.now())
  }
}

function isThere(object: ApiObject | undefined, uid: string | undefined): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return false
  return uid === undefined || object.metadata.uid === uid
}

/** `known` is the hash of the token. */
function holdsToken({ data }: Secret, known: string): boolean {
  const held = Buffer.from(data?.token ?? '', 'base64').toString()
  return timingSafeEqual(hash('sha256', held, 'buffer'), Buffer.from(known, 'base64'))
}
