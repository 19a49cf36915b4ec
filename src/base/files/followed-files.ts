/**
 * Tells when files change, by looking at them from time to time: that works on every file system, for files that are
 * written in place, replaced, or reached over a link that now leads elsewhere (as mounted volumes do it).
 *
 * A change is told once the file has looked the same twice, so that one that is still being written is not read half
 * way. A file that is gone has changed too. What has changed in the content, if anything, is for the reader to find.
 */
import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Reports when files change. */
export class FollowedFiles {
  readonly #followed = new Set<Followed>()
  readonly #everyMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs = 250) {
    this.#everyMs = everyMs
  }

  /** To be called before the files are read for the first time. `onChange` must not throw. Gives what ends it. */
  follow(files: readonly string[], onChange: () => void): () => void {
    const look = looksNow(files)
    const followed: Followed = { files, onChange, told: look, last: look }
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
      if (!settled || look === followed.told || !this.#followed.has(followed)) continue
      followed.told = look
      followed.onChange()
    }
  }
}

interface Followed {
  readonly files: readonly string[]
  readonly onChange: () => void
  /** How the files looked when that was last told, and when they were last looked at. */
  told: string
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
  return files.map((file) => textOf(statSync(file, { ...exact, throwIfNoEntry: false }))).join()
}

async function lookOf(file: string): Promise<string> {
  return textOf(await stat(file, exact).catch(() => undefined))
}

function textOf(look: Look | undefined): string {
  return look === undefined ? 'gone' : `${look.ino}/${look.size}/${look.mtimeNs}/${look.ctimeNs}`
}
