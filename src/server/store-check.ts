/** The readiness check of the store: it must answer, and the caches must follow it. A server without it serves nothing. */
import type { Caches } from '../cache/caches.ts'
import type { Store } from '../store/store.ts'

/** Whoever asks for readiness seldom waits longer. */
const patienceMs = 1_000

export async function checkStore(store: Store, caches: Caches): Promise<string | undefined> {
  if (caches.fault !== undefined) return caches.fault
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
