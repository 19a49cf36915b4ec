/**
 * Backups that a server makes by itself: one every interval into a directory, of which the newest are kept. The first is
 * made at once, unless the newest in the directory is younger than an interval: restarts neither skip nor add any. Files of
 * other names are left alone, and nothing is deleted before a new backup is whole. What fails is logged, shown in
 * `/readyz?verbose` until a backup succeeds, and tried again after the next interval.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeBackupFile } from '../../backup/backup-file.ts'
import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../base/errors.ts'
import { makePrivateDirectory } from '../../base/files.ts'
import type { Log } from '../../telemetry/log.ts'
import type { ServerOptions } from '../flags/options.ts'
import { type BackupSource, makeBackup } from './make-backup.ts'
import { bytesText, countText } from './progress-line.ts'

const namePattern = /^orch-\d{8}T\d{6}\.\d{3}Z\.backup$/

export class ScheduledBackups {
  readonly #options: Pick<ServerOptions, 'backupDir' | 'backupInterval' | 'backupKeep'>
  readonly #source: BackupSource
  readonly #log: Log
  readonly #clock: Clock
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #stopped = false
  #failure: string | undefined

  constructor(
    options: Pick<ServerOptions, 'backupDir' | 'backupInterval' | 'backupKeep'>,
    { source, log, clock }: { source: BackupSource; log: Log; clock: Clock },
  ) {
    this.#options = options
    this.#source = source
    this.#log = log
    this.#clock = clock
  }

  /** Begins, unless there is no directory to write to. */
  start(): void {
    if (this.#options.backupDir === '') return
    this.#running = this.#untilFirst().then((ms) => this.#schedule(ms))
  }

  /** What to add to the readiness of the server. */
  note(): string | undefined {
    return this.#failure === undefined ? undefined : `the last backup failed: ${this.#failure}`
  }

  /** Resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** How long until an interval has passed since the newest backup; none where there is no backup. */
  async #untilFirst(): Promise<number> {
    const { backupDir, backupInterval } = this.#options
    // A directory that cannot be read is reported by the backup that is made at once.
    const newest = (await readdir(backupDir).catch(() => [])).filter(isOurs).sort().at(-1)
    if (newest === undefined) return 0
    const age = this.#clock.now() - timeOf(newest)
    return age < 0 ? 0 : Math.max(0, backupInterval - age)
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
    const time = new Date(this.#clock.now()).toISOString().replaceAll(/[-:]/g, '')
    const file = join(backupDir, `orch-${time}.backup`)
    try {
      await makePrivateDirectory(backupDir, (await readdir(backupDir).catch(() => [])).filter(isOurs))
      const { entries, bytes, sha256 } = await writeBackupFile(file, this.#chunks())
      this.#failure = undefined
      this.#log.info('made a backup', { file, entries: countText(entries, 'entry'), size: bytesText(bytes), sha256 })
      await this.#deleteOld()
    } catch (error) {
      if (this.#stopped) return
      this.#failure = messageOf(error)
      this.#log.error(`cannot make a backup: ${this.#failure}; it is tried again after --backup-interval`, { file })
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
    // Their names order by their times.
    const ours = (await readdir(backupDir)).filter(isOurs).sort()
    for (const name of ours.slice(0, Math.max(0, ours.length - backupKeep))) await rm(join(backupDir, name))
  }
}

function isOurs(name: string): boolean {
  return namePattern.test(name)
}

/** `orch-20261116T190510.924Z.backup`: when it was made. */
function timeOf(name: string): number {
  const [, day, hour, rest] = /^orch-(\d{8})T(\d{2})(\d{4}\.\d{3})Z/.exec(name)!
  const date = `${day!.slice(0, 4)}-${day!.slice(4, 6)}-${day!.slice(6)}`
  return Date.parse(`${date}T${hour}:${rest!.slice(0, 2)}:${rest!.slice(2)}Z`) || 0
}
