/**
 * Detects changed files by polling. Polling works on every file system, and also for files that are written in place,
 * replaced, or reached through a link whose target changes (as in mounted volumes).
 *
 * A change is reported when two consecutive polls find the same file state, so that no file is read while it is being
 * written. Deleting a file counts as a change. The caller checks whether the content differs.
 */
import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Calls a function when files change. */
export class FollowedFiles {
  readonly #followed = new Set<Followed>()
  readonly #everyMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs = 250) {
    this.#everyMs = everyMs
  }

  /**
   * Starts polling files. Must be called before the files are first read. `onChange` must not throw. Returns a function
   * that stops polling.
   */
  follow(files: readonly string[], onChange: () => void): () => void {
    const look = looksNow(files)
    const followed: Followed = { files, onChange, lastReported: look, last: look }
    this.#followed.add(followed)
    this.#timer ??= setInterval(() => void this.#look(), this.#everyMs).unref()
    return () => this.#followed.delete(followed)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#followed.clear()
  }

  async #look(): Promise<void> {
    for (const followed of this.#followed) {
      const look = (await Promise.all(followed.files.map(lookOf))).join()
      const settled = look === followed.last
      followed.last = look
      if (!settled || look === followed.lastReported || !this.#followed.has(followed)) continue
      followed.lastReported = look
      followed.onChange()
    }
  }
}

interface Followed {
  readonly files: readonly string[]
  readonly onChange: () => void
  /** State of the files as of the last reported change. */
  lastReported: string
  last: string
}

interface Look {
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

const exact = { bigint: true } as const

function looksNow(files: readonly string[]): string {
  return files.map((file) => fingerprint(statSync(file, { ...exact, throwIfNoEntry: false }))).join()
}

async function lookOf(file: string): Promise<string> {
  return fingerprint(await stat(file, exact).catch(() => undefined))
}

function fingerprint(look: Look | undefined): string {
  return look === undefined ? 'gone' : `${look.ino}/${look.size}/${look.mtimeNs}/${look.ctimeNs}`
}
