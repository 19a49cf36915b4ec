/**
 * `orch encryption rewrite`: encrypts all entries of a stopped store with the first key in the configuration, and
 * removes the old bytes from the file.
 */
import { parseFlags, UsageError } from '../../base/flags/flags.ts'
import { openLog } from '../../base/telemetry/log.ts'
import { prefixOf } from '../../storage/cache/caches.ts'
import type { Encrypted } from '../../storage/encryption/encrypted-store.ts'
import { rewriteAll, UndecryptableError } from '../../storage/encryption/rewrite.ts'
import { assertContainsStore } from '../backup/open-command-store.ts'
import { type ServerOptions, serverFlags } from '../flags/options.ts'
import { readEncryptionFile } from '../store/encryption.ts'
import { claimProfile } from '../store/profile.ts'
import { openRawStore } from '../store/store.ts'

/**
 * Runs `orch encryption rewrite` with the flags of the server. `tell` prints messages for the user. If the keys cannot
 * decrypt all values, throws UsageError and leaves the store unchanged.
 */
export async function encryptionCommand(args: readonly string[], tell: (line: string) => void): Promise<void> {
  const [command, ...rest] = args
  if (command !== 'rewrite') throw new UsageError('unknown command: use orch encryption rewrite')
  const options = parseFlags(serverFlags, rest)
  const encrypted = await readEncryptionFile(options, { allowsSharedOldNames: true })
  if (encrypted === undefined)
    throw new UsageError(
      '--encryption-provider-config is required: specify a file with the resources to encrypt and the keys',
    )
  if (options.etcdServers.length === 0) assertContainsStore(options.dataDir)
  await rewriteStore(options, encrypted, tell)
  await removeOldBytes(options, tell)
}

type Tell = (line: string) => void

/** Encrypts all values in the store. */
async function rewriteStore(options: ServerOptions, encrypted: Encrypted, tell: Tell): Promise<void> {
  const store = await openRawStore(options, openLog({}))
  const events = prefixOf('core', 'events')
  try {
    await claimProfile(store, options.profile)
    const { written, current } = await rewriteAll(store, encrypted, {
      lifetimeOf: (key) => (key.startsWith(events) ? Math.ceil(options.eventTtl / 1000) : undefined),
      onProgress: (done) => tell(`checked ${done} values`),
    })
    tell(`rewrote ${written} values; ${current} were already encrypted with the first key`)
  } catch (error) {
    if (!(error instanceof UndecryptableError)) throw error
    const { count, values } = error
    for (const { key, why } of values) tell(`cannot decrypt ${key}: ${why}`)
    if (count > values.length) tell(`cannot decrypt ${count - values.length} more values`)
    throw new UsageError(
      `nothing was changed: ${count} stored values cannot be decrypted: correct ${options.encryptionProviderConfig} and run the command again, or delete the objects`,
    )
  } finally {
    await store.close()
  }
}

async function removeOldBytes(options: ServerOptions, tell: Tell): Promise<void> {
  if (options.etcdServers.length > 0) {
    tell(
      'deleted the history; to remove the remaining plain text, run "etcdctl defrag" on each member and replace old backups',
    )
    return
  }
  const { compactFile } = await import('../../storage/store/lmdb/compact-file.ts')
  const { before, after } = await compactFile(options.dataDir)
  tell(`rewrote the store file without its old contents: ${before} bytes before, ${after} bytes now`)
  tell('older backups still contain the old contents: replace them with new backups')
}
