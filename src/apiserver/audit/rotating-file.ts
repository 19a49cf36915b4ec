/**
 * A log file with rotation. A full file is renamed: `audit.log` becomes `audit-2026-01-31T10-00-00.000.log`. Rotated
 * files may be compressed and are deleted by count and age. The names are the same as in kube-apiserver. Only the owner
 * can read the files.
 *
 * Several workers may append to one file. One worker rotates the file, and the other workers detect the rotation and
 * reopen the file. A single process also reopens the file within a second if another program moved or removed it.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Clock } from '../../base/time/clock.ts'

export interface Rotation {
  readonly maxBytes: number
  /** Maximum number of rotated files. The value 0 means that the number is not limited. */
  readonly maxBackups: number
  /** Maximum age of rotated files in milliseconds. The value 0 means that the age is not limited. */
  readonly maxAgeMs: number
  readonly compress: boolean
  /**
   * Determines which worker rotates the file if several workers write to it. Undefined if a single worker writes to the
   * file.
   */
  readonly shared?: { readonly rotates: boolean } | undefined
}

/** Time in milliseconds during which other workers may still write to a file that was just rotated. */
const othersMs = 1000

/** Interval in milliseconds at which a single writer checks whether its file still exists. */
const lookMs = 1000

const ownerOnly = 0o600

export class RotatingFile {
  readonly #path: string
  readonly #rotation: Rotation
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  #file: FileHandle | undefined
  #size = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  #tidying: Promise<void> = Promise.resolve()

  constructor(
    path: string,
    rotation: Rotation,
    { clock, onError }: { clock: Clock; onError: (error: unknown) => void },
  ) {
    this.#path = path
    this.#rotation = rotation
    this.#clock = clock
    this.#onError = onError
  }

  /** Opens the file. Throws an error if the file cannot be opened. */
  async open(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#file = await open(this.#path, 'a', ownerOnly)
    this.#size = (await this.#file.stat()).size
  }

  /** Appends whole lines. The caller must wait for the previous append. */
  async append(lines: Buffer): Promise<void> {
    if (this.#isTimeToLook()) await this.#follow()
    if (
      this.#rotation.shared?.rotates !== false &&
      this.#size > 0 &&
      this.#size + lines.length > this.#rotation.maxBytes
    )
      await this.#rotate()
    if (this.#file === undefined) await this.open()
    await this.#file!.appendFile(lines)
    this.#size += lines.length
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
    await this.#tidying
  }

  #isTimeToLook(): boolean {
    if (this.#rotation.shared !== undefined) return true
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt < lookMs) return false
    this.#lookedAt = now
    return true
  }

  /** Reopens the file if another worker or program has moved it. */
  async #follow(): Promise<void> {
    const [there, own] = await Promise.all([stat(this.#path).catch(() => undefined), this.#file?.stat()])
    if (there !== undefined && there.ino === own?.ino) {
      this.#size = there.size
      return
    }
    await this.#file?.close()
    this.#file = undefined
    await this.open()
  }

  async #rotate(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
    const aside = await this.#freeName()
    await rename(this.#path, aside)
    // Compress and delete rotated files in the background.
    this.#tidying = this.#tidying.then(() => this.#tidy(aside)).catch(this.#onError)
  }

  /**
   * Returns a name for the rotated file. The name contains the current time. If a file with this name exists, uses the
   * next millisecond.
   */
  async #freeName(): Promise<string> {
    const { folder, stem, extension } = partsOf(this.#path)
    const existingNames = new Set((await readdir(folder)).map((name) => name.replace(/\.gz$/, '')))
    for (let at = this.#clock.now(); ; at++) {
      const time = new Date(at).toISOString().slice(0, -1).replaceAll(':', '-')
      const name = `${stem}-${time}${extension}`
      if (!existingNames.has(name)) return join(folder, name)
    }
  }

  async #tidy(aside: string): Promise<void> {
    if (this.#rotation.shared !== undefined) await pause(othersMs)
    if (this.#rotation.compress) await compress(aside)
    const { maxBackups, maxAgeMs } = this.#rotation
    const { folder, stem, extension } = partsOf(this.#path)
    const backupFiles = (await readdir(folder))
      .flatMap((name) => {
        const time = timeIn(name, stem, extension)
        return time === undefined ? [] : [{ file: join(folder, name), time }]
      })
      .sort((a, b) => b.time - a.time)
    const oldest = maxAgeMs === 0 ? Number.NEGATIVE_INFINITY : this.#clock.now() - maxAgeMs
    const goes = ({ time }: { time: number }, i: number) => (maxBackups > 0 && i >= maxBackups) || time < oldest
    for (const { file } of backupFiles.filter(goes)) await unlink(file)
  }
}

function partsOf(path: string) {
  const extension = extname(path)
  return { folder: dirname(path), stem: basename(path, extension), extension }
}

/** Returns the rotation time in a file name, or undefined if the file is not a rotated file. */
function timeIn(name: string, stem: string, extension: string): number | undefined {
  if (!name.startsWith(`${stem}-`)) return undefined
  const rest = name.slice(stem.length + 1).replace(/\.gz$/, '')
  if (!rest.endsWith(extension)) return undefined
  const [, date, hours, minutes, seconds] =
    /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2}\.\d{3})$/.exec(rest.slice(0, rest.length - extension.length)) ?? []
  if (date === undefined) return undefined
  const time = Date.parse(`${date}T${hours}:${minutes}:${seconds}Z`)
  return Number.isNaN(time) ? undefined : time
}

async function compress(file: string): Promise<void> {
  await pipeline(
    createReadStream(file),
    createGzip(),
    createWriteStream(`${file}.gz`, { flags: 'wx', mode: ownerOnly }),
  )
  await unlink(file)
}
