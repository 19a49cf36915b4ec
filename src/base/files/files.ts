/**
 * Creates files and directories safely. A reader sees either the old file or the complete new file, even after a crash.
 * A new file gets an unpredictable name and its final mode before it is renamed, so the server never writes to another
 * user's file or link. Errors are thrown to the caller, which knows the purpose of the file and can explain the error
 * to the user.
 */
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { codeOf } from '../text/errors.ts'

/**
 * Writes a file unless it already exists. If multiple writers run at once, exactly one succeeds, and the file is
 * complete.
 */
export async function createFile(file: string, text: string, mode: number): Promise<void> {
  await place(file, { text, mode }, async (temporary) => {
    await link(temporary, file).catch(ignoring('EEXIST'))
    await rm(temporary)
  })
}

/** Writes a file and replaces an existing file of the same name. */
export async function replaceFile(file: string, text: string, mode: number): Promise<void> {
  await place(file, { text, mode }, (temporary) => rename(temporary, file))
}

/** Creates a directory and its missing parents. */
export async function makeDirectory(directory: string, mode = 0o777): Promise<void> {
  const path = resolve(directory)
  try {
    await makeOne(path, mode)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    // The directory is created with at most one retry. A `recursive` mkdir never returns in /proc, where mkdir fails
    // with ENOENT even though the parent exists. Another process could create the parent between a check and the mkdir.
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
 * Creates a directory and its parents, and makes the directory accessible only to its owner. An existing directory may
 * contain only the names in `ours`, so that a mistake such as `--data-dir=/` does not lock out other users. An existing
 * directory to which other users can write must be empty, because they may have written its content.
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
 * Returns an error handler for `catch` that returns undefined for errors with the given code, such as `ENOENT`, and
 * rethrows all other errors.
 */
export function ignoring(code: string): (error: unknown) => undefined {
  return (error) => {
    if (codeOf(error) !== code) throw error
    return undefined
  }
}

// Moves a temporary file to its final name. Syncs the file before the rename and the directory afterwards, so that both
// survive a power failure.
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
