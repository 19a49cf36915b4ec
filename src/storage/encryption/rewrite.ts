/**
 * Re-encrypts every stored value that was not written with the current key, the key of the first provider. An
 * administrator runs this operation after adding a key or enabling encryption. Then deletes the journal and compacts
 * the store, because both still contain the old values.
 */
import type { Entry, Store } from '../store/store.ts'
import { decrypt, type Encrypted } from './encrypted-store.ts'
import type { Provider } from './providers.ts'

export interface Rewritten {
  /** Number of values that were rewritten, and number of values that already used the current key. */
  readonly written: number
  readonly current: number
  /** Keys whose values no provider can decrypt. These values remain unchanged. */
  readonly unreadable: readonly string[]
}

export interface RewriteOptions {
  /** Returns the lifetime of a key in seconds, or undefined if the key does not expire. */
  readonly lifetimeOf: (key: string) => number | undefined
  /** Called at intervals with the number of processed values. */
  readonly onProgress: (done: number) => void
}

const pageSize = 500
const maxTries = 10

/**
 * Re-encrypts all values that were not encrypted with the current key. `store` is the underlying store, which returns
 * encrypted values.
 */
export async function rewriteAll(store: Store, encrypted: Encrypted, options: RewriteOptions): Promise<Rewritten> {
  const unreadable: string[] = []
  let rewrittenCount = 0
  let current = 0
  for (const [prefix, providers] of encrypted) {
    for await (const entry of everything(store, prefix)) {
      const outcome = await rewrite(store, entry, { providers, lifetimeSeconds: options.lifetimeOf(entry.key) })
      if (outcome === 'unreadable') unreadable.push(entry.key)
      else if (outcome === 'written') rewrittenCount++
      else current++
      const done = rewrittenCount + current + unreadable.length
      if (done % pageSize === 0) options.onProgress(done)
    }
  }
  await store.compact(await store.revision())
  await store.journal?.forget()
  // Etcd keeps deleted journal entries readable until the next compaction.
  await store.compact(await store.revision())
  return { written: rewrittenCount, current, unreadable }
}

interface RewriteContext {
  readonly providers: readonly Provider[]
  readonly lifetimeSeconds: number | undefined
}

async function rewrite(
  store: Store,
  original: Entry,
  context: RewriteContext,
): Promise<'written' | 'current' | 'unreadable'> {
  const { providers, lifetimeSeconds } = context
  const [first] = providers
  let entry: Entry | undefined = original
  for (let tries = 0; tries < maxTries; tries++) {
    if (entry === undefined) return 'current'
    const { key, revision, value } = entry
    const decrypted = decrypt(providers, key, value)
    if (decrypted === undefined) return 'unreadable'
    // Compares the providers rather than their names, because two different keys may have the same name.
    if (decrypted.provider === first) return 'current'
    const sealed = first!.encrypt(key, decrypted.plain)
    const result = await store.commit({ key, expected: revision, value: sealed, lifetimeSeconds })
    if (result.outcome === 'committed') return 'written'
    entry = result.current
  }
  throw new Error(`${original.key} keeps changing: run the command again`)
}

/** Yields the entries under a prefix. The prefix can also be a complete key. */
async function* everything(store: Store, prefix: string): AsyncGenerator<Entry> {
  let after: string | undefined
  for (;;) {
    const range = { prefix, limit: pageSize, count: false, ...(after === undefined ? {} : { after }) }
    const { entries, remaining } = await store.list(range)
    yield* entries
    after = entries.at(-1)?.key
    if (remaining === 0 || after === undefined) return
  }
}
