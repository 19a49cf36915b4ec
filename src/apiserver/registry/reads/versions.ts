/** Waiting for a version that this server has not seen yet, and saying no when it does not come. */
import { type ApiError, timeout } from '../../../api/model/api-error.ts'
import type { RegistryParts } from '../catalogue/resource.ts'

const waitMs = 3000

/** Resolves when the caches are at least as new as `revision`; 504 when they do not get there in a few seconds. */
export async function waitForVersion({ caches, store }: RegistryParts, revision: number): Promise<void> {
  if (caches.revision >= revision) return
  // Asked for its own, the store makes its watches pass the revisions that other servers have named.
  await store.revision()
  if (!(await caches.reached(revision, waitMs))) throw tooLarge(revision, caches.revision)
}

/** 504: the version lies ahead of everything that this server has seen. */
export function tooLarge(revision: number, current: number): ApiError {
  return timeout(`Timeout: Too large resource version: ${revision}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}
