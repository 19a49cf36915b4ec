/**
 * Checks that the objects on which a token depends still exist: its account, and the pod, Secret or node to which it is
 * bound. The node of a pod is not checked. Objects are compared by uid, so that a token is not valid for a recreated
 * object. A legacy token must also match the content of its Secret. Terminating objects count as deleted, except for
 * pods, which need their tokens until their grace periods end.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { node as nodes } from '../../../api/kinds/core/node.ts'
import { pod as pods } from '../../../api/kinds/core/pod.ts'
import type { Secret } from '../../../api/kinds/core/secret.ts'
import { secret as secrets } from '../../../api/kinds/core/secret.ts'
import { serviceAccount as serviceAccounts } from '../../../api/kinds/core/service-account.ts'
import { isMarkedInvalid } from '../../../api/model/legacy-tokens.ts'
import type { Lookup, StoredObject } from '../../../api/model/lookup.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Holder } from './claims.ts'
import type { SignedToken } from './signatures.ts'

export interface HolderOptions {
  readonly lookup: Lookup
  readonly clock: Clock
  /** Whether a legacy token is valid only while its account and Secret exist. */
  readonly lookupLegacy: boolean
  /** The vendor whose label marks a legacy token as invalid. Undefined if the label is ignored. */
  readonly markedBy: Vendor | undefined
}

/** Checks that the account, pod, Secret and node of a token still exist. */
export class TokenDependencies {
  readonly #lookup: Lookup
  readonly #clock: Clock
  readonly #lookupLegacy: boolean
  readonly #markedBy: Vendor | undefined
  /**
   * For each valid token, the objects that it depended on when it was last checked. As long as these objects are
   * unchanged, the token need not be checked again.
   */
  readonly #good = new WeakMap<SignedToken, readonly (StoredObject | undefined)[]>()

  constructor({ lookup, clock, lookupLegacy, markedBy }: HolderOptions) {
    this.#lookup = lookup
    this.#clock = clock
    this.#lookupLegacy = lookupLegacy
    this.#markedBy = markedBy
  }

  /** Whether all objects that the token depends on exist in the cache. */
  exist(token: SignedToken): boolean {
    const { namespace, account, pod, secret, legacy } = token.claims
    const node = boundNode(token)
    if (legacy && !this.#lookupLegacy) return true
    const dependencies = [
      this.#lookup.getCached(serviceAccounts, { namespace, name: account.name }),
      pod && this.#lookup.getCached(pods, { namespace, name: pod.name }),
      secret && this.#lookup.getCached(secrets, { namespace, name: secret.name }),
      node && this.#lookup.getCached(nodes, { namespace: '', name: node.name }),
    ] as const
    const good = this.#good.get(token)
    if (good?.every((each, i) => each === dependencies[i])) return true
    return this.#judge(token, dependencies)
  }

  #judge(token: SignedToken, dependencies: readonly (StoredObject | undefined)[]): boolean {
    const { account, pod, secret, legacy } = token.claims
    const node = boundNode(token)
    const [ofAccount, ofPod, ofSecret, ofNode] = dependencies.map((each) => each?.object)
    const stands =
      isThere(ofAccount, account.uid) &&
      (pod === undefined || this.#isPodThere(ofPod, pod.uid)) &&
      (secret === undefined || isThere(ofSecret, secret.uid)) &&
      (node === undefined || isThere(ofNode, node.uid)) &&
      (!legacy || (holdsToken(ofSecret!, token.hash) && !this.#isMarked(ofSecret!)))
    // A token for a terminating pod becomes invalid when the pod's grace period ends, without any change to the object.
    // Do not cache the result.
    if (stands && !ofPod?.metadata.deletionTimestamp) this.#good.set(token, dependencies)
    return stands
  }

  #isMarked(secret: ApiObject): boolean {
    return this.#markedBy !== undefined && isMarkedInvalid(secret, this.#markedBy)
  }

  #isPodThere(pod: ApiObject | undefined, uid: string | undefined): boolean {
    const end = pod?.metadata.deletionTimestamp
    return pod?.metadata.uid === uid && (end === undefined || Date.parse(end) > this.#clock.now())
  }
}

/** Returns the node that the token is bound to. A token for a pod is not bound to the pod's node. */
function boundNode({ claims: { node, pod } }: SignedToken): Holder | undefined {
  return pod === undefined ? node : undefined
}

function isThere(object: ApiObject | undefined, uid: string | undefined): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return false
  return uid === undefined || object.metadata.uid === uid
}

/** Whether the Secret contains the token with this hash. */
function holdsToken({ data }: Secret, tokenHash: string): boolean {
  const held = Buffer.from(data?.token ?? '', 'base64').toString()
  return timingSafeEqual(hash('sha256', held, 'buffer'), Buffer.from(tokenHash, 'base64'))
}
