/** The readiness check of the store: it must answer, and the caches must follow it. A server without it serves nothing. */
import type { Caches } from '../cache/caches.ts'
import type { Store } from '../store/store.ts'

/** Whoever asks for readiness seldom waits longer. */
const patienceMs = 1_000

/** `failure` is why the store can never be written again. */
export async function checkStore(
  store: Store,
  caches: Caches,
  failure: Error | undefined,
): Promise<string | undefined> {
  if (failure !== undefined) return `nothing can be written any more: ${failure.message}`
  if (!caches.healthy) return 'the store cannot be followed'
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve('the store does not answer'), patienceMs)
  return await Promise.race([ask(store), late]).finally(() => clearTimeout(timer))
}

async function ask(store: Store): Promise<string | undefined> {
  try {
    await store.revision()
    return undefined
  } catch {
    return 'the store does not answer'
  }
}
