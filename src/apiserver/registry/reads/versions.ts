/** Waits for a resource version that this server has not reached yet. */
import { type ApiError, timeout } from '../../../api/model/api-error.ts'
import type { RegistryParts } from '../catalogue/resource.ts'

const waitMs = 3000

/** The reason in the error's details, which clients match. */
export const versionTooLarge = 'ResourceVersionTooLarge'

/** Resolves when the caches have reached `revision`. Throws 504 if they do not within a few seconds. */
export async function waitForVersion({ caches, store }: RegistryParts, revision: number): Promise<void> {
  if (caches.revision >= revision) return
  // Reading the store's revision makes its watches pass revisions that other servers have reported.
  await store.revision()
  if (!(await caches.reached(revision, waitMs))) throw tooLarge(revision, caches.revision)
}

/** Returns the 504 error for a version that is newer than any version that this server has seen. */
export function tooLarge(revision: number, current: number): ApiError {
  return timeout(`Timeout: Too large resource version: ${revision}, current: ${current}`, {
    causes: [{ reason: versionTooLarge, message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}
