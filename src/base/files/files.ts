/**
 * Files and directories that are ours to make. A reader, or a crash at any moment, sees the old file or the new one and
 * never half of it. A file is always a new one under a name that nobody could foresee, with its own mode from the
 * start: what somebody else has put there before, a file or a link, is never written into. Callers explain errors to
 * the user, since they know what the file is for.
 */
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { codeOf } from '../text/errors.ts'

/** Writes the file unless it is there already: of several writers one wins, and its file is whole. */
export async function createFile(file: string, text: string, mode: number): Promise<void> {
  await place(file, { text, mode }, async (temporary) => {
    await link(temporary, file).catch(ignoring('EEXIST'))
    await rm(temporary)
  })
}

/** Writes the file in place of the one that is there. */
export async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  await place(file, { text, mode }, (temporary) => rename(temporary, file))
}

/** Makes the directory and those above it that are missing. */
export async function makeDirectory(directory: string, mode = 0o777): Promise<void> {
  const path = resolve(directory)
  try {
    await makeOne(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    // Once more and not for ever, as mkdir with `recursive` does in /proc: there even what lies in an existing directory
    // is ENOENT. Who looks instead whether the one above is there may find one that another has just made.
    await makeDirectory(dirname(path), mode)
    await makeOne(path, mode)
  }
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    await checkDirectory(path)
  }
}

/**
 * Makes the directory, with those above it, and takes it away from everybody but the owner. One that was there before
 * is taken only if it holds nothing but `ours`, so that a slip (`--data-dir=/`) locks nobody out of theirs; and only
 * if it is empty where others could write into it, since what is there may be theirs.
 */
export async function makePrivateDirectory(directory: string, ours: readonly string[]): Promise<void> {
  await makeDirectory(directory, 0o700)
  const mode = (await stat(directory)).mode & 0o777
  if (mode === 0o700) return
  const trusted = (mode & 0o022) === 0 ? ours : []
  const strange = (await readdir(directory)).find((name) => name !== 'lost+found' && !trusted.includes(name))
  if (strange !== undefined && (mode & 0o077) !== 0)
    throw new Error(
      `other users may get at it, and ${JSON.stringify(strange)} was in it before: use a new one, or run chmod 700 on it if all of it is yours`,
    )
  await chmod(directory, 0o700)
}

/** For `catch`: turns the error with this code (`ENOENT`) into undefined, and throws any other. */
export function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (codeOf(error) !== code) throw error
    return undefined
  }
}

// The temporary file is synced before it gets its name, and the directory after, so that both survive a power loss.
async function place(
  file: string,
  content: { text: string; mode: number },
  name: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await writeSynced(temporary, content)
    await name(temporary)
    await syncDirectory(dirname(file))
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {})
    throw error
  }
}

async function writeSynced(file: string, { text, mode }: { text: string; mode: number }): Promise<void> {
  await using handle = await open(file, 'wx', mode)
  await handle.chmod(mode)
  await handle.writeFile(text)
  await handle.sync()
}

async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r')
  await handle.sync()
}

async function checkDirectory(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory()) throw new Error(`${path} is not a directory`)
}
