/**
 * Creates files and directories safely. A reader sees either the old file or the new one, never a part, even after a
 * crash. New files get an unpredictable name and their final mode before they are renamed, so the server never writes
 * to a file or link of another user. Errors are reported to the caller, which knows the purpose of the file and can
 * explain the error to the user.
 */
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { codeOf } from '../text/errors.ts'

/** Writes the file unless it exists. If several writers run at once, one of them succeeds and the file is complete. */
export async function createFile(file: string, text: string, mode: number): Promise<void> {
  await place(file, { text, mode }, async (temporary) => {
    await link(temporary, file).catch(ignoring('EEXIST'))
    await rm(temporary)
  })
}

/** Replaces the file. */
export async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  await place(file, { text, mode }, (temporary) => rename(temporary, file))
}

/** Creates the directory and its missing parents. */
export async function makeDirectory(directory: string, mode = 0o777): Promise<void> {
  const path = resolve(directory)
  try {
    await makeOne(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    // The directory is tried only once more. A `recursive` mkdir never returns in /proc, where mkdir fails with ENOENT
    // even though the parent exists. Checking for the parent first could conflict with a process that creates it.
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
 * Creates the directory and its parents, and makes the directory accessible to its owner only. If the directory exists,
 * it may contain only the names in `ours`, so that a mistake such as `--data-dir=/` does not lock out other users. If
 * other users could write to the directory, it must be empty, because they may have written its content.
 */
export async function makePrivateDirectory(directory: string, ours: readonly string[]): Promise<void> {
  await makeDirectory(directory, 0o700)
  const mode = (await stat(directory)).mode & 0o777
  if (mode === 0o700) return
  const trusted = (mode & 0o022) === 0 ? ours : []
  const strange = (await readdir(directory)).find((name) => name !== 'lost+found' && !trusted.includes(name))
  if (strange !== undefined && (mode & 0o077) !== 0)
    throw new Error(
      `other users can access it, and it already contained ${JSON.stringify(strange)}: use a new directory, or run chmod 700 on it if you own all its contents`,
    )
  await chmod(directory, 0o700)
}

/**
 * Returns a function for `catch`. It returns undefined for an error with this code (such as `ENOENT`) and throws all
 * others again.
 */
export function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (codeOf(error) !== code) throw error
    return undefined
  }
}

// Moves a file to its place. Syncs the temporary file before the rename and the directory after it, so that both
// survive a power loss.
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
