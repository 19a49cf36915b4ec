/** Waits until this server has reached a resource version. */
import { type ApiError, timeout } from '../../../api/model/api-error.ts'
import type { RegistryParts } from '../catalogue/resource.ts'

const waitMs = 3000

/** Cause in the 504 response to a resource version that is too new. Clients recognize the error by this cause. */
export const versionTooLarge = 'ResourceVersionTooLarge'

/** Resolves when the caches have reached `revision`. Throws 504 if the wait takes longer than a few seconds. */
export async function waitForVersion({ caches, store }: RegistryParts, revision: number): Promise<void> {
  if (caches.revision >= revision) return
  // Another server may have committed the revision. Read the store's current revision, so that the watches of the
  // caches advance to it.
  await store.revision()
  if (!(await caches.reached(revision, waitMs))) throw tooLarge(revision, caches.revision)
}

/** Returns the 504 error for a resource version that is newer than the latest one that this server has reached. */
export function tooLarge(revision: number, current: number): ApiError {
  return timeout(`Timeout: Too large resource version: ${revision}, current: ${current}`, {
    causes: [{ reason: versionTooLarge, message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}
