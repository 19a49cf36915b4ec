/**
 * Re-encrypts every stored value that was not written with the current key, the key of the first provider. An
 * administrator runs this operation after adding a key or enabling encryption. The operation then deletes the journal
 * and compacts the store, because both still contain the old values. If any value cannot be decrypted, the operation
 * changes nothing. The configuration is then probably wrong, and the history may be needed for recovery.
 */
import { encryptionFault } from '../../api/codec/stored.ts'
import type { Entry, Store } from '../store/store.ts'
import { decrypt, decryptOrMark, type Encrypted, providerFinder } from './encrypted-store.ts'
import { identity, type Provider } from './providers.ts'

export interface Rewritten {
  /** The number of rewritten values, and the number of values that already used the current key. */
  readonly written: number
  readonly current: number
}

export interface RewriteOptions {
  /** Returns the lifetime of a key in seconds, or undefined if the key does not expire. */
  readonly lifetimeOf: (key: string) => number | undefined
  /** Called at intervals with the number of processed values. */
  readonly onProgress: (done: number) => void
}

/** A value that the configured keys cannot decrypt. */
export interface UndecryptableValue {
  readonly key: string
  readonly why: string
}

/** Thrown before anything is changed if the configured keys cannot decrypt all stored values. */
export class UndecryptableError extends Error {
  override readonly name = 'UndecryptableError'
  readonly count: number
  /** At most the first 20 of these values. */
  readonly values: readonly UndecryptableValue[]

  constructor(count: number, values: readonly UndecryptableValue[]) {
    super(`${count} stored values cannot be decrypted`)
    this.count = count
    this.values = values
  }
}

const pageSize = 500
const maxTries = 10
const maxReported = 20

/**
 * Re-encrypts all values that were not encrypted with the current key. `store` is the underlying store, which returns
 * encrypted values. Throws UndecryptableError if the keys cannot decrypt all values.
 */
export async function rewriteAll(store: Store, encrypted: Encrypted, options: RewriteOptions): Promise<Rewritten> {
  await assertDecryptable(store, encrypted)
  let written = 0
  let current = 0
  for (const [prefix, providers] of encrypted) {
    for await (const entry of everything(store, prefix)) {
      const outcome = await rewrite(store, entry, { providers, lifetimeSeconds: options.lifetimeOf(entry.key) })
      if (outcome === 'written') written++
      else current++
      if ((written + current) % pageSize === 0) options.onProgress(written + current)
    }
  }
  await store.compact(await store.revision())
  await store.journal?.forget()
  // In etcd, deleted journal entries remain readable until the next compaction.
  await store.compact(await store.revision())
  return { written, current }
}

/** Checks all values. Values that the configuration does not encrypt must not be encrypted. */
async function assertDecryptable(store: Store, encrypted: Encrypted): Promise<void> {
  const providersOf = providerFinder(encrypted)
  const values: UndecryptableValue[] = []
  let count = 0
  for await (const { key, value } of everything(store, '')) {
    const why = encryptionFault(Buffer.from(decryptOrMark(providersOf(key) ?? [identity], key, value)))
    if (why === undefined) continue
    count++
    if (values.length < maxReported) values.push({ key, why })
  }
  if (count > 0) throw new UndecryptableError(count, values)
}

interface RewriteContext {
  readonly providers: readonly Provider[]
  readonly lifetimeSeconds: number | undefined
}

/** Rewrites one value. Other servers on the same etcd may change the value at the same time. */
async function rewrite(store: Store, original: Entry, context: RewriteContext): Promise<'written' | 'current'> {
  const { providers, lifetimeSeconds } = context
  const [first] = providers
  let entry: Entry | undefined = original
  for (let tries = 0; tries < maxTries; tries++) {
    if (entry === undefined) return 'current'
    const { key, revision, value } = entry
    const decrypted = decrypt(providers, key, value)
    if (decrypted === undefined) throw new Error(`another server wrote ${key} with a key that is not configured`)
    // Compares the providers instead of their names, because two different keys may have the same name.
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
