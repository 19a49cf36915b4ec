/**
 * Writes everything anew that the first provider of its resource has not written: after a key was added, or encryption
 * was turned on. Then the history is forgotten, and the journal, which still hold the values as they were.
 */
import type { Entry, Store } from '../store/store.ts'
import { decrypt, type Encrypted } from './encrypted-store.ts'
import type { Provider } from './providers.ts'

export interface Rewritten {
  /** How many values were written anew, and how many were in order already. */
  readonly written: number
  readonly current: number
  /** Keys whose values none of the providers can decrypt: they stay as they are. */
  readonly unreadable: readonly string[]
}

export interface RewriteOptions {
  /** How long a value stays that goes by itself, by its key; undefined: it stays. */
  readonly lifetimeOf: (key: string) => number | undefined
  /** Told now and then how many values have been looked at. */
  readonly onProgress: (done: number) => void
}

const pageSize = 500
const maxTries = 10

/** `store` is the one below: its values are as they lie in the file. */
export async function rewriteAll(store: Store, encrypted: Encrypted, options: RewriteOptions): Promise<Rewritten> {
  const unreadable: string[] = []
  let [written, current] = [0, 0]
  for (const [prefix, providers] of encrypted) {
    for await (const entry of everything(store, prefix)) {
      const outcome = await rewrite(store, entry, { providers, lifetimeSeconds: options.lifetimeOf(entry.key) })
      if (outcome === 'unreadable') unreadable.push(entry.key)
      else if (outcome === 'written') written++
      else current++
      const done = written + current + unreadable.length
      if (done % pageSize === 0) options.onProgress(done)
    }
  }
  await store.compact(await store.revision())
  await store.journal?.forget()
  // On etcd what was forgotten is there until the next compaction.
  await store.compact(await store.revision())
  return { written, current, unreadable }
}

interface How {
  readonly providers: readonly Provider[]
  readonly lifetimeSeconds: number | undefined
}

async function rewrite(store: Store, found: Entry, how: How): Promise<'written' | 'current' | 'unreadable'> {
  const { providers, lifetimeSeconds } = how
  const [first] = providers
  let entry: Entry | undefined = found
  for (let tries = 0; tries < maxTries; tries++) {
    if (entry === undefined) return 'current'
    const { key, revision, value } = entry
    const decrypted = decrypt(providers, key, value)
    if (decrypted === undefined) return 'unreadable'
    // The key itself counts, not its name: another key may have the same one.
    if (decrypted.provider === first) return 'current'
    const sealed = first!.encrypt(key, decrypted.plain)
    const result = await store.commit({ key, expected: revision, value: sealed, lifetimeSeconds })
    if (result.outcome === 'committed') return 'written'
    entry = result.current
  }
  throw new Error(`${found.key} changes all the time: run it again`)
}

/** A key that is itself one of those that are encrypted, or all below it. */
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
