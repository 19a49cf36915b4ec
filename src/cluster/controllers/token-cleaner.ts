/**
 * Deletes expired bootstrap tokens. A token with an invalid `expiration` counts as expired, as it does in
 * authentication. Each deletion requires the resourceVersion that was checked, so a token whose expiration was extended
 * in the meantime is kept.
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
import { ignoreNotFound } from './ignore-not-found.ts'

export interface TokenCleanerParts {
  readonly client: Client
  readonly clock: Clock
  /** An informer for bootstrap token Secrets only. */
  readonly informer: Informer<Secret>
}

/**
 * Maximum time, in milliseconds, before the loop checks a token again, even if the token expires much later. The limit
 * is needed because the system clock may change.
 */
const maxWaitMs = 10 * 60_000

export function tokenCleanerLoop(parts: TokenCleanerParts): Loop {
  return {
    name: 'tokencleaner',
    sources: [fromInformer(parts.informer)],
    reconcile: async (key, signal) => {
      const secret = parts.informer.get(nameOfKey(key))
      if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return 'done'
      const end = endOf(secret)
      const leftMs = end - parts.clock.now()
      if (leftMs > 0) return end === Number.POSITIVE_INFINITY ? 'done' : { afterMs: Math.min(leftMs, maxWaitMs) }
      return await remove(parts, secret, signal)
    },
  }
}

async function remove({ client }: TokenCleanerParts, { metadata }: Secret, signal: AbortSignal): Promise<StepOutcome> {
  const { namespace = '', name = '', uid = '', resourceVersion = '' } = metadata
  const options = { preconditions: { uid, resourceVersion }, signal }
  try {
    await ignoreNotFound(client.delete(kinds.Secret, { namespace, name }, options))
  } catch (error) {
    // A conflict needs no retry: the other client's change triggers this loop again.
    if (!isConflict(error)) throw error
  }
  return 'done'
}
