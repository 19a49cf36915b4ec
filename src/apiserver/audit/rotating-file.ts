/**
 * A file that lines are appended to, and that is set aside when it grows too large: `audit.log` becomes
 * `audit-2026-01-31T10-00-00.000.log`, compressed if so wished, and of those only so many are kept, for so long. The
 * names are those that operators of kube-apiserver know. Files are readable by their owner alone.
 *
 * Several workers may append to one file: one of them sets it aside, and the others notice that and go on in the new one.
 * So does one alone, within a second, where another program has moved or removed the file.
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
  /** How many files that were set aside are kept; 0: any number. */
  readonly maxBackups: number
  /** How long they are kept, in milliseconds; 0: for ever. */
  readonly maxAgeMs: number
  readonly compress: boolean
  /** Where several workers write the file: whether this one sets it aside; absent: nobody else writes it. */
  readonly shared?: { readonly rotates: boolean } | undefined
}

/** How long others may still write into a file that was set aside. */
const othersMs = 1000

/** How often one that writes alone looks whether the file is still there. */
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

  /** Opens the file; throws where that cannot be. */
  async open(): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 })
    this.#file = await open(this.#path, 'a', ownerOnly)
    this.#size = (await this.#file.stat()).size
  }

  /** Appends whole lines. One call at a time. */
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

  /** Another worker or program may have set the file aside: then this one goes on in a new one. */
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
    // What was set aside is compressed and thinned out while new lines are written.
    this.#tidying = this.#tidying.then(() => this.#tidy(aside)).catch(this.#onError)
  }

  /** The file's name with the time; where a file was set aside at that moment already, with the next free millisecond. */
  async #freeName(): Promise<string> {
    const { folder, stem, extension } = partsOf(this.#path)
    const taken = new Set((await readdir(folder)).map((name) => name.replace(/\.gz$/, '')))
    for (let at = this.#clock.now(); ; at++) {
      const time = new Date(at).toISOString().slice(0, -1).replaceAll(':', '-')
      const name = `${stem}-${time}${extension}`
      if (!taken.has(name)) return join(folder, name)
    }
  }

  async #tidy(aside: string): Promise<void> {
    if (this.#rotation.shared !== undefined) await pause(othersMs)
    if (this.#rotation.compress) await compress(aside)
    const { maxBackups, maxAgeMs } = this.#rotation
    const { folder, stem, extension } = partsOf(this.#path)
    const kept = (await readdir(folder))
      .flatMap((name) => {
        const time = timeIn(name, stem, extension)
        return time === undefined ? [] : [{ file: join(folder, name), time }]
      })
      .sort((a, b) => b.time - a.time)
    const oldest = maxAgeMs === 0 ? Number.NEGATIVE_INFINITY : this.#clock.now() - maxAgeMs
    const goes = ({ time }: { time: number }, i: number) => (maxBackups > 0 && i >= maxBackups) || time < oldest
    for (const { file } of kept.filter(goes)) await unlink(file)
  }
}

function partsOf(path: string) {
  const extension = extname(path)
  return { folder: dirname(path), stem: basename(path, extension), extension }
}

/** When a file was set aside, by its name; undefined for any other file. */
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
