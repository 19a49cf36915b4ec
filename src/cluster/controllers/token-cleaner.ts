/**
 * Deletes bootstrap tokens that have expired; one whose `expiration` cannot be read counts as expired, as it does when
 * somebody uses it. A Secret is deleted only as it was seen: one whose time was extended meanwhile stays.
 */

import type { Clock } from '../../base/time/clock.ts'
import type { Informer } from '../../client/informers/informer.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { fromInformer } from '../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../client/reconcile/work-queue.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { nameOfKey } from '../../client/requests/resource-type.ts'
import { isConflict } from '../../client/requests/status-error.ts'
import { endOf, type Secret } from './bootstrap-token-secrets.ts'
import { unlessGone } from './unless-gone.ts'

export interface TokenCleanerParts {
  readonly client: Client
  readonly clock: Clock
  /** Those that are tokens. */
  readonly informer: Informer<Secret>
}

/** However far away the end of a token is, it is looked at after this time: the clock may have been set. */
const longestWaitMs = 10 * 60_000

export function tokenCleanerLoop(parts: TokenCleanerParts): Loop {
  return {
    name: 'tokencleaner',
    sources: [fromInformer(parts.informer)],
    reconcile: async (key, signal) => {
      const secret = parts.informer.get(nameOfKey(key))
      if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return 'done'
      const end = endOf(secret)
      const leftMs = end - parts.clock.now()
      if (leftMs > 0) return end === Number.POSITIVE_INFINITY ? 'done' : { afterMs: Math.min(leftMs, longestWaitMs) }
      return await remove(parts, secret, signal)
    },
  }
}

async function remove({ client }: TokenCleanerParts, { metadata }: Secret, signal: AbortSignal): Promise<StepOutcome> {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata
  const options = { preconditions: { uid, resourceVersion }, signal }
  try {
    await unlessGone(client.delete(kinds.Secret, { namespace, name }, options))
  } catch (error) {
    // It was changed meanwhile, and comes again.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
