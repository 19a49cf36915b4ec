/**
 * Implements `orch backup`, `restore`, `check` and `migrate`, which operate on a whole store. Each command reports
 * progress on standard error and results on standard output. The commands never overwrite data. A store that was loaded
 * only partially cannot be opened.
 */
import { version } from '../../api/model/version.ts'
import { oldestVersion } from '../../api/versions/emulated-version.ts'
import { BackupError } from '../../apiserver/backup/backup-error.ts'
import { openBackup, readContents, writeBackupFile } from '../../apiserver/backup/backup-file.ts'
import { type CheckReport, checkPages, type Fault } from '../../apiserver/backup/check.ts'
import { type BackupContents, backupFormat, writeBackup } from '../../apiserver/backup/format.ts'
import { loadPages, revisionAbove } from '../../apiserver/backup/load.ts'
import { snapshotOf } from '../../apiserver/backup/snapshot.ts'
import { backupPath } from '../../apiserver/http/paths/backup-path.ts'
import type { OptionsOf } from '../../base/flags/flags.ts'
import { UsageError } from '../../base/flags/flags.ts'
import { parserFor } from '../../client/node/config-parser.ts'
import { HttpTransport } from '../../client/node/http-transport.ts'
import { readClientConfig } from '../../client/node/kubeconfig.ts'
import { processEnvironment, usualFiles } from '../../client/node/kubeconfig-files.ts'
import { errorOf } from '../../client/requests/status-error.ts'
import { encryptedStore } from '../../storage/encryption/encrypted-store.ts'
import type { Entry, Store } from '../../storage/store/store.ts'
import type { backupFlags, checkFlags, restoreFlags, StorePlace } from '../flags/backup.ts'
import { readEncryptionFile } from '../store/encryption.ts'
import { profileOf } from '../store/profile.ts'
import { adoptAuthority, isAuthority } from './authorities.ts'
import { lifetimes } from './lifetimes.ts'
import { makeBackup } from './make-backup.ts'
import { assertOneStore, loadIntoStore, openCommandStore } from './open-command-store.ts'
import { bytesText, countText, ProgressLine, type Terminal } from './progress-line.ts'

/** Runs `orch backup`: backs up a running server, or a store if the flags name a store. */
export async function backup(options: OptionsOf<typeof backupFlags>, terminal: Terminal): Promise<void> {
  const { to, kubeconfig } = options
  const isDirect = options.dataDir !== '' || options.etcdServers.length > 0
  if (isDirect && kubeconfig !== '') throw new UsageError('--kubeconfig can only be used to back up a running server')
  if (isDirect) assertOneStore(options, ['data-dir', 'etcd-servers'])
  await using chunks = isDirect ? await ofPlace(options, terminal) : await ofServer(kubeconfig)
  const progress = new ProgressLine(terminal, 'backup')
  if (to === '-') return await writeOut(chunks.read(), progress)
  const contents = await writeBackupFile(to, chunks.read(), (bytes) => progress.show(bytesText(bytes)))
  progress.end()
  terminal.print(`${to}: ${contentsText(contents)}`)
}

/** A stream of pages, and the file or store to close after the stream has been read. */
interface Reading extends AsyncDisposable {
  read(): AsyncIterable<Buffer>
}

async function ofPlace(place: StorePlace, { warn }: Terminal): Promise<Reading> {
  const store = await openCommandStore(place, warn)
  const dataDir = place.dataDir === '' ? undefined : place.dataDir
  return { read: () => makeBackup({ store, dataDir }), [Symbol.asyncDispose]: () => store.close() }
}

async function ofServer(kubeconfig: string): Promise<Reading> {
  const files = kubeconfig === '' ? usualFiles(processEnvironment()) : [kubeconfig]
  const { transport: config } = readClientConfig({ files, parse: await parserFor(files) })
  const transport = new HttpTransport(config)
  return {
    read: () => fromServer(transport),
    [Symbol.asyncDispose]: async () => transport.close(),
  }
}

async function* fromServer(transport: HttpTransport): AsyncGenerator<Buffer> {
  const headers = { 'user-agent': `orch-backup/${version}`, accept: '*/*' }
  const request = { method: 'GET', path: backupPath, headers, body: undefined, signal: new AbortController().signal }
  const answer = await transport.send(request)
  if (answer.status !== 200) throw errorOf(answer.status, Buffer.concat(await Array.fromAsync(answer.body)).toString())
  for await (const chunk of answer.body) yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

async function writeOut(chunks: AsyncIterable<Buffer>, progress: ProgressLine): Promise<void> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    progress.show(bytesText(bytes))
    await writeToOutput(chunk)
  }
  progress.end()
}

/**
 * Writes a chunk. Resolves once the chunk has been written, so that a failed write cannot go unnoticed and leave a
 * truncated backup.
 */
async function writeToOutput(chunk: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  process.stdout.write(chunk, (error) => (error ? reject(unwritten(error)) : resolve()))
  await promise
}

function unwritten({ message }: Error): BackupError {
  return new BackupError(`the backup is incomplete: cannot write to standard output: ${message}`)
}

/** Runs `orch restore`: loads a backup into an empty store. */
export async function restore(options: OptionsOf<typeof restoreFlags>, terminal: Terminal): Promise<void> {
  const { from, profile } = options
  assertOneStore(options, ['data-dir', 'etcd-servers'])
  // The whole file is read first, so that a damaged backup leaves the store unchanged.
  const sha = from === '-' ? '' : (await readContents(from)).sha256
  const reader = await openBackup(from)
  const { header } = reader
  if (profile !== '' && profile !== header.profile)
    throw new BackupError(
      `the backup has the profile ${header.profile} and cannot be restored with the profile ${profile}`,
    )
  const load = {
    id: `backup ${header.created} ${header.revision} ${sha}`,
    above: revisionAbove(header.revision, Date.parse(header.created), Date.now()),
  }
  const revision = await fill(options, { load, pages: () => reader.pages(), ttlMs: options.eventTtl }, terminal)
  terminal.print(
    `restored ${contentsText(reader.contents!)} of ${header.created}; profile ${header.profile}, Kubernetes ${header.kubernetesVersion ?? oldestVersion}, revision ${revision}`,
  )
}

export interface Filling {
  readonly load: { readonly id: string; readonly above: number }
  readonly pages: () => AsyncIterable<readonly Entry[]>
  /** Lifetime of the loaded Events in milliseconds. */
  readonly ttlMs: number
}

/** Loads all pages of a backup or store into an empty store. Returns the revision of the loaded store. */
export async function fill(place: StorePlace, { load, pages, ttlMs }: Filling, terminal: Terminal): Promise<number> {
  const loading = await loadIntoStore(place, load)
  const progress = new ProgressLine(terminal, 'load')
  try {
    if (loading.done > 0) terminal.warn(`resuming an interrupted load after ${countText(loading.done, 'entry')}`)
    await loadPages(loading, pages(), {
      lifetimeOf: lifetimes(ttlMs),
      keepsElsewhere: async (entry) => {
        if (place.dataDir === '' || !isAuthority(entry)) return false
        await adoptAuthority(place.dataDir, entry)
        return true
      },
      onProgress: ({ entries, bytes }) => progress.show(`${countText(entries, 'entry')}, ${bytesText(bytes)}`),
    })
    return await loading.finish()
  } finally {
    progress.end()
    await loading.close()
  }
}

/** Runs `orch check`, which checks a store. Returns true if the store has no faults. */
export async function check(options: OptionsOf<typeof checkFlags>, terminal: Terminal): Promise<boolean> {
  const { backup: file, setAside } = options
  const isBackup = file !== ''
  if (isBackup && (options.dataDir !== '' || options.etcdServers.length > 0 || setAside !== ''))
    throw new UsageError('--backup cannot be combined with other flags')
  if (isBackup) return await checkBackup(file, terminal)
  assertOneStore(options, ['data-dir', 'etcd-servers'])
  const store = await openCommandStore(options, terminal.warn)
  try {
    const { revision, pages } = await snapshotOf(await decryptedBy(options.encryptionProviderConfig, store))
    const report = await checkAll(pages(), terminal)
    terminal.print(`revision ${revision}: ${reportText(report)}`)
    const damaged = report.faults.filter((fault) => fault.damaged)
    if (setAside === '' || damaged.length === 0) return report.faults.length === 0
    await moveAside(store, damaged, setAside)
    terminal.print(`${countText(damaged.length, 'damaged entry')} moved to ${setAside}`)
    return report.faults.length === damaged.length && report.more === 0
  } finally {
    await store.close()
  }
}

/**
 * Returns a view of the store in which values are decrypted according to this encryption configuration, as a server
 * would see them.
 */
async function decryptedBy(encryptionProviderConfig: string, store: Store): Promise<Store> {
  const profile = await profileOf(store)
  if (encryptionProviderConfig === '' || profile === undefined) return store
  const encrypted = await readEncryptionFile({ encryptionProviderConfig, profile })
  return encrypted === undefined ? store : encryptedStore(store, encrypted)
}

async function checkBackup(file: string, terminal: Terminal): Promise<boolean> {
  const reader = await openBackup(file)
  const { created, profile, revision, program, kubernetesVersion = oldestVersion } = reader.header
  const report = await checkAll(reader.pages(), terminal)
  terminal.print(
    `backup of ${created} by orch ${program}; profile ${profile}, Kubernetes ${kubernetesVersion}, revision ${revision}`,
  )
  terminal.print(contentsText(reader.contents!))
  for (const [type, count] of Object.entries(reader.contents!.types)) terminal.print(`  ${count}\t${type}`)
  terminal.print(reportText(report))
  return report.faults.length === 0
}

async function checkAll(pages: AsyncIterable<readonly Entry[]>, terminal: Terminal): Promise<CheckReport> {
  const progress = new ProgressLine(terminal, 'check')
  const report = await checkPages(pages, ({ entries, bytes }) =>
    progress.show(`${countText(entries, 'entry')}, ${bytesText(bytes)}`),
  )
  progress.end()
  for (const { entry, why } of report.faults) terminal.print(`${entry.key} (revision ${entry.revision}): ${why}`)
  return report
}

/** Copies damaged entries to a file in backup format, then deletes them from the store unless they have changed. */
async function moveAside(store: Store, damaged: readonly Fault[], file: string): Promise<void> {
  // Reads the stored bytes again, because the check may have decrypted the entries.
  const damagedEntries = await Promise.all(damaged.map(({ entry }) => store.get(entry.key)))
  const entries = damagedEntries.flatMap((entry, i) => (entry?.revision === damaged[i]!.entry.revision ? [entry] : []))
  const header = {
    format: backupFormat,
    profile: '',
    program: version,
    revision: await store.revision(),
    created: new Date().toISOString(),
  }
  await writeBackupFile(
    file,
    writeBackup(
      header,
      (async function* () {
        yield entries
      })(),
    ),
  )
  for (const { key, revision } of entries) await store.commit({ key, expected: revision, value: undefined })
}

function reportText({ entries, bytes, objects, faults, more }: CheckReport): string {
  const all = `${countText(entries, 'entry')} (${countText(objects, 'object')}, ${bytesText(bytes)}) read`
  const count = faults.length + more
  return count === 0 ? `${all}: all sound` : `${all}: ${countText(count, 'fault')}`
}

function contentsText({ entries, bytes, sha256 }: BackupContents): string {
  return `${countText(entries, 'entry')}, ${bytesText(bytes)}, sha256 ${sha256}`
}
