/**
 * Unpacks an archive from a container into a local directory. The container is untrusted: no entry can escape the
 * directory through its name or through a link. Links are skipped and reported.
 */
import { lstatSync, mkdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, posix, resolve, sep } from 'node:path'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Entry, Unpacker } from '../../../wire/streaming/tar.ts'
import { escapeLine } from '../printers/escape.ts'

export interface UnpackOptions {
  /** Path in the container that the user requested. All names in the archive must start with it. */
  readonly prefix: string
  /** Local path of the copy, which replaces the prefix. */
  readonly target: string
  readonly warn: (text: string) => void
}

/**
 * Returns a receiver for the entries of an archive. The receiver throws UsageError if an entry would be written outside
 * the target.
 */
export function unpackInto({ prefix, target, warn }: UnpackOptions): Unpacker {
  let file: Awaited<ReturnType<typeof open>> | undefined
  return {
    entry: async (entry) => {
      const path = destinationPath(entry, { prefix, target })
      if (path === undefined) {
        warn(`warning: ${escapeLine(entry.name)} is not in ${escapeLine(prefix)}; skipping it\n`)
        return undefined
      }
      if (entry.type === 'link' || entry.type === 'other') {
        warn(`warning: skipping ${entry.type === 'link' ? 'link' : 'special file'}: ${escapeLine(entry.name)}\n`)
        return undefined
      }
      refuseLinks(target, entry.type === 'directory' ? path : dirname(path))
      mkdirSync(entry.type === 'directory' ? path : dirname(path), { recursive: true })
      if (entry.type === 'directory') return undefined
      refuseLinks(target, path)
      const opened = await open(path, 'w', entry.mode & 0o777)
      file = opened
      return async (data) => void (await opened.write(data))
    },
    end: async () => {
      const ended = file
      file = undefined
      await ended?.close()
    },
  }
}

/** Returns the local path of an entry, or undefined if the entry was not requested. */
function destinationPath({ name }: Entry, { prefix, target }: { prefix: string; target: string }): string | undefined {
  const normalizedPath = posix
    .normalize(prefix)
    .replace(/^(?:\.?\/)+/, '')
    .replace(/\/+$/, '')
  const bare = posix.normalize(name).replace(/^(?:\.?\/)+/, '')
  if (name.split('/').includes('..'))
    throw new UsageError(
      `the container sent ${JSON.stringify(name)}, which is outside of the target directory: copying stopped`,
    )
  const relativePath =
    normalizedPath === '' || normalizedPath === '.'
      ? bare
      : bare === normalizedPath || bare.startsWith(`${normalizedPath}/`)
        ? bare.slice(normalizedPath.length)
        : undefined
  if (relativePath === undefined) return undefined
  const path = resolve(target, `.${sep}${relativePath}`)
  if (path !== resolve(target) && !path.startsWith(resolve(target) + sep))
    throw new UsageError(
      `the container sent ${JSON.stringify(name)}, which is outside of the target directory: copying stopped`,
    )
  return path
}

/** Rejects a path that passes through an existing link below the target, because the link could redirect the file. */
function refuseLinks(target: string, path: string): void {
  const root = resolve(target)
  const steps = path
    .slice(root.length)
    .split(sep)
    .filter((step) => step !== '')
  let here = root
  for (const step of steps) {
    here = join(here, step)
    if (lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new UsageError(`${here} is a link, which orchctl does not follow`)
  }
}
