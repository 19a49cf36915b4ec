/**
 * Removes unused legacy tokens: service account tokens in Secrets that are listed in an account and not referenced by
 * any pod. A token that has not been used for the clean-up period is marked as invalid, and servers reject it from then
 * on. Its Secret is deleted after another such period. The loop keeps Secrets that no account lists, because users
 * created them.
 *
 * A ConfigMap contains the day on which servers began to record the use of tokens. No token is marked in the first
 * period after that day.
 */
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { Secret } from '../../api/kinds/core/secret.ts'
import type { ServiceAccount } from '../../api/kinds/core/service-account.ts'
import {
  dayOf,
  invalidSinceLabel,
  lastUsedLabel,
  startOfDay,
  trackingConfigMap,
} from '../../api/model/legacy-tokens.ts'
import { secretsOf } from '../../api/model/pod-secrets.ts'
import { type Vendor, vendorKey } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Index } from '../../client/informers/object-index.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

export interface LegacyTokenCleanerParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly clock: Clock
  /** An informer for service account token Secrets only. */
  readonly tokens: Informer<Secret>
  readonly accounts: Informer<ServiceAccount>
  readonly pods: Informer<Pod>
  /**
   * Clean-up period in milliseconds: how long a token must be unused before it is marked, and how long the Secret of a
   * marked token is kept.
   */
  readonly periodMs: number
}

const dayMs = 24 * 60 * 60_000

/** The default clean-up period: 365 days. */
export const defaultUnusedTokenMs = 365 * dayMs

/** The parts of the legacy token cleaner, with an index of pods by the Secrets they use. */
interface Cleaning extends LegacyTokenCleanerParts {
  readonly podsBySecret: Index<Pod>
}

export function legacyTokenCleanerLoop(parts: LegacyTokenCleanerParts): Loop {
  const podsBySecret = parts.pods.index(({ metadata, spec = {} }) =>
    secretsOf(spec).map((name) => `${metadata.namespace}/${name}`),
  )
  const cleaning = { ...parts, podsBySecret }
  const nothing = () => []
  return {
    name: 'legacy-service-account-token-cleaner',
    sources: [fromInformer(parts.tokens), fromInformer(parts.accounts, nothing), fromInformer(parts.pods, nothing)],
    reconcile: async (key, signal) => {
      const secret = parts.tokens.get(nameOfKey(key))
      if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return 'done'
      if (isUnused(cleaning, secret) && (await isTracked(cleaning, signal))) await clean(cleaning, secret, signal)
      return { afterMs: dayMs }
    },
  }
}

/** Whether the token was neither created nor used in the last period, and no pod refers to it. */
function isUnused(cleaning: Cleaning, secret: Secret): boolean {
  const { vendor, clock, periodMs, podsBySecret } = cleaning
  const { namespace, name, labels, creationTimestamp = '' } = secret.metadata
  const end = clock.now() - periodMs
  if (!(Date.parse(creationTimestamp) < end)) return false
  const lastUsed = labels?.[lastUsedLabel(vendor)]
  if (lastUsed !== undefined && (startOfDay(lastUsed) === undefined || lastUsed >= dayOf(end))) return false
  return isListed(cleaning, secret) && podsBySecret.count(`${namespace}/${name}`) === 0
}

/**
 * Whether the account of the token lists the Secret. A Secret without an account UID belongs to any account with the
 * name that the Secret specifies.
 */
function isListed({ vendor, accounts }: Cleaning, { metadata }: Secret): boolean {
  const { namespace = '', name, annotations = {} } = metadata
  const accountName = annotations[vendorKey(vendor, 'service-account.name')] ?? ''
  const account = accounts.get({ namespace, name: accountName })
  const uid = annotations[vendorKey(vendor, 'service-account.uid')] ?? ''
  if (account === undefined || (uid !== '' && uid !== account.metadata.uid)) return false
  return (account.secrets ?? []).some((each) => each.name === name)
}

/**
 * Whether servers have tracked the use of tokens for a whole period. The first day does not count, because it may be
 * incomplete.
 */
async function isTracked({ client, clock, periodMs }: Cleaning, signal: AbortSignal): Promise<boolean> {
  const name = { namespace: 'kube-system', name: trackingConfigMap }
  const configMap = await ignoreNotFound(client.get(kinds.ConfigMap, name, { signal }))
  const start = startOfDay(configMap?.data?.since)
  return start !== undefined && clock.now() >= start + dayMs + periodMs
}

/** Marks the token, or deletes its Secret if the token was marked long enough ago. */
async function clean({ client, vendor, clock, periodMs }: Cleaning, { metadata }: Secret, signal: AbortSignal) {
  const { namespace = '', name = '', uid = '', resourceVersion = '', labels } = metadata
  const label = invalidSinceLabel(vendor)
  const invalidSince = labels?.[label]
  if (startOfDay(invalidSince) === undefined) {
    const merge = { metadata: { uid, labels: { [label]: dayOf(clock.now()) } } }
    await ignoreNotFound(client.patch(kinds.Secret, { namespace, name }, { patch: { merge }, signal }))
    return
  }
  if (invalidSince! >= dayOf(clock.now() - periodMs)) return
  try {
    const options = { preconditions: { uid, resourceVersion }, signal }
    await ignoreNotFound(client.delete(kinds.Secret, { namespace, name }, options))
  } catch (error) {
    // A conflict needs no retry: the change to the Secret triggers this loop again.
    if (!isConflict(error)) throw error
  }
}
