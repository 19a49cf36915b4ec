/**
 * Scheduled backups. Once per interval, the server writes a backup to a directory and keeps only the newest backups
 * there. The server makes the first backup immediately, unless the directory contains a backup younger than the
 * interval, so that restarts neither skip nor add backups. The server ignores files with other names, and deletes an
 * old backup only after a new one is complete. Partial files that a killed server left behind are deleted once no
 * server can still be writing them. A failure is logged, shown in `/readyz?verbose` until a backup succeeds, and
 * retried after the next interval.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeBackupFile } from '../../apiserver/backup/backup-file.ts'
import { ignoring, makePrivateDirectory } from '../../base/files/files.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { messageOf } from '../../base/text/errors.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { ServerOptions } from '../flags/options.ts'
import { type BackupSource, makeBackup } from './make-backup.ts'
import { bytesText, countText } from './progress-line.ts'

const namePattern = /^orch-\d{8}T\d{6}\.\d{3}Z\.backup$/
const halfWrittenPattern = /^orch-\d{8}T\d{6}\.\d{3}Z\.backup\.[0-9a-f]{12}\.tmp$/

/**
 * Age in milliseconds after which a partial file may be deleted. A newer file may still be in use by another server
 * that writes to the same directory.
 */
const untouchedMs = 600_000

/** Writes a backup at every interval and deletes old backups. */
export class ScheduledBackups {
  readonly #options: Pick<ServerOptions, 'backupDir' | 'backupInterval' | 'backupKeep'>
  readonly #source: BackupSource
  readonly #log: Log
  readonly #clock: Clock
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #stopped = false
  #failure: string | undefined
  #newest: number | undefined

  constructor(
    options: Pick<ServerOptions, 'backupDir' | 'backupInterval' | 'backupKeep'>,
    { source, log, clock }: { source: BackupSource; log: Log; clock: Clock },
  ) {
    this.#options = options
    this.#source = source
    this.#log = log
    this.#clock = clock
  }

  /** Starts the schedule if a backup directory is configured. */
  start(): void {
    if (this.#options.backupDir === '') return
    this.#running = this.#untilFirst().then((ms) => this.#schedule(ms))
  }

  /** Creation time of the newest backup in the directory, in milliseconds since 1970. */
  get newest(): number | undefined {
    return this.#newest
  }

  /** Returns a note about backups for the readiness check of the server. */
  note(): string | undefined {
    return this.#failure === undefined ? undefined : `the last backup failed: ${this.#failure}`
  }

  /** Stops the schedule. Resolves when the running backup has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** Returns the time in milliseconds until the newest backup is one interval old, or 0 if there is no backup. */
  async #untilFirst(): Promise<number> {
    const { backupDir, backupInterval } = this.#options
    // If the directory is unreadable, the first backup starts immediately and reports the error.
    const names = (await readdir(backupDir).catch(() => [])).filter(isOurs)
    const now = this.#clock.now()
    const times = names.map(timeOf).filter((time) => time <= now)
    if (times.length === 0) return 0
    this.#newest = Math.max(...times)
    return Math.max(0, backupInterval - (now - this.#newest))
  }

  #schedule(ms: number): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.#run().finally(() => this.#schedule(this.#options.backupInterval))
    }, ms)
    this.#timer.unref()
  }

  async #run(): Promise<void> {
    const { backupDir } = this.#options
    const began = this.#clock.now()
    const file = join(backupDir, `orch-${new Date(began).toISOString().replaceAll(/[-:]/g, '')}.backup`)
    try {
      const names = await readdir(backupDir).catch(() => [])
      await makePrivateDirectory(
        backupDir,
        names.filter((name) => isOurs(name) || halfWrittenPattern.test(name)),
      )
      await this.#deleteHalfWritten()
      const { entries, bytes, sha256 } = await writeBackupFile(file, this.#chunks())
      this.#failure = undefined
      this.#newest = began
      this.#log.info('backup completed', { file, entries: countText(entries, 'entry'), size: bytesText(bytes), sha256 })
      await this.#deleteOld()
    } catch (error) {
      if (this.#stopped) return
      this.#failure = messageOf(error)
      this.#log.error(`backup failed: ${this.#failure}; will retry after --backup-interval`, { file })
    }
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    for await (const chunk of makeBackup(this.#source)) {
      if (this.#stopped) throw new Error('the server stops')
      yield chunk
    }
  }

  async #deleteOld(): Promise<void> {
    const { backupDir, backupKeep } = this.#options
    const ours = this.#oldestFirst((await readdir(backupDir)).filter(isOurs))
    for (const name of ours.slice(0, Math.max(0, ours.length - backupKeep))) await rm(join(backupDir, name))
  }

  /**
   * Sorts backups by the time in their names. A backup with a time in the future was made while the clock was ahead, so
   * it sorts before all others as the oldest.
   */
  #oldestFirst(names: readonly string[]): string[] {
    const now = this.#clock.now()
    const sorted = names.toSorted()
    const isFuture = (name: string) => timeOf(name) > now
    return [...sorted.filter(isFuture), ...sorted.filter((name) => !isFuture(name))]
  }

  async #deleteHalfWritten(): Promise<void> {
    const { backupDir } = this.#options
    for (const name of (await readdir(backupDir)).filter((each) => halfWrittenPattern.test(each))) {
      const file = join(backupDir, name)
      const fileStat = await stat(file).catch(ignoring('ENOENT'))
      // A modification time in the future was recorded while the clock was ahead.
      if (fileStat === undefined || Math.abs(this.#clock.now() - fileStat.mtimeMs) < untouchedMs) continue
      await rm(file, { force: true })
      this.#log.info('deleted a partial backup left by a killed server', { file })
    }
  }
}

function isOurs(name: string): boolean {
  return namePattern.test(name)
}

/** Returns the creation time in a file name such as `orch-20261116T190510.924Z.backup`. */
function timeOf(name: string): number {
  const [, day, hour, rest] = /^orch-(\d{8})T(\d{2})(\d{4}\.\d{3})Z/.exec(name)!
  const date = `${day!.slice(0, 4)}-${day!.slice(4, 6)}-${day!.slice(6)}`
  return Date.parse(`${date}T${hour}:${rest!.slice(0, 2)}:${rest!.slice(2)}Z`) || 0
}
