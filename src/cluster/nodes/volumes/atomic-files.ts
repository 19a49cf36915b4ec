/**
 * Files of a volume that are updated atomically. Each version has its own directory. The symbolic link `..data` points
 * to the directory of the current version and is replaced with a rename. The visible files are symbolic links to paths
 * below `..data`. Readers see either the old or the new version, never a mix.
 */
import { randomBytes } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ignoring } from '../../../base/files/files.ts'
import { codeOf } from '../../../base/text/errors.ts'

/** A file to write into a volume. */
export interface VolumeFile {
  readonly content: Buffer
  readonly mode: number
}

/** Files of a volume, by path within the volume. */
export type VolumeFiles = ReadonlyMap<string, VolumeFile>

/** Group that can read the files. Ignored if this process is not allowed to change the group of files. */
export interface Ownership {
  readonly group?: number
}

const link = '..data'
const directoryMode = 0o755
const maxPath = 4096

/** Replaces the files of the volume. Returns whether any file was written. Throws if a path escapes the volume. */
export async function writeFiles(volume: string, files: VolumeFiles, { group }: Ownership = {}): Promise<boolean> {
  for (const path of files.keys()) assertInside(path)
  await mkdir(volume, { recursive: true, mode: directoryMode })
  const previous = await readlink(join(volume, link)).catch(ignoring('ENOENT'))
  if (previous !== undefined && (await isSame(join(volume, previous), files))) return false
  const state = `..${new Date().toISOString().replaceAll(/[-:T]/g, '_').slice(0, 19)}.${randomBytes(5).toString('hex')}`
  try {
    await mkdir(join(volume, state), { mode: directoryMode })
    for (const [path, file] of files) await writeFile(join(volume, state, path), file, group)
    await exchange(volume, state)
  } catch (error) {
    // Each attempt creates a new directory. After a failure, the directory is removed. Otherwise, repeated attempts
    // would fill the file system.
    await rm(join(volume, state), { recursive: true, force: true })
    throw error
  }
  await showFiles(volume, files)
  if (previous !== undefined && isState(previous)) await rm(join(volume, previous), { recursive: true, force: true })
  return true
}

/** Throws if a path escapes its volume or uses a reserved name. */
function assertInside(path: string): void {
  const parts = path.split('/')
  const isOdd = parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0'))
  if (isOdd || path.length > maxPath || parts[0]!.startsWith('..'))
    throw new Error(`${JSON.stringify(path.slice(0, 100))} is not a path within a volume`)
}

function isState(name: string): boolean {
  return name.startsWith('..') && name !== '..' && !name.includes('/')
}

async function writeFile(path: string, { content, mode }: VolumeFile, group: number | undefined): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: directoryMode })
  await using handle = await open(path, 'wx', mode)
  await handle.writeFile(content)
  // Set the mode with `chmod`, because the umask would change a mode passed to `open`.
  await handle.chmod(mode)
  if (group !== undefined && process.getuid?.() === 0) await lchown(path, -1, group)
}

async function exchange(volume: string, state: string): Promise<void> {
  const temporary = join(volume, `${link}_tmp`)
  await rm(temporary, { force: true })
  await symlink(state, temporary)
  await rename(temporary, join(volume, link))
}

/** Creates one link per top-level name, and removes the links to deleted files. */
async function showFiles(volume: string, files: VolumeFiles): Promise<void> {
  const topLevelNames = new Set([...files.keys()].map((path) => path.split('/')[0]!))
  const present = (await readdir(volume)).filter((name) => !name.startsWith('..'))
  for (const name of topLevelNames) if (!present.includes(name)) await symlink(join(link, name), join(volume, name))
  for (const name of present)
    if (!topLevelNames.has(name)) await rm(join(volume, name), { recursive: true, force: true })
}

async function isSame(state: string, files: VolumeFiles): Promise<boolean> {
  const present = await filesIn(state)
  if (present.length !== files.size) return false
  for (const [path, { content, mode }] of files) {
    try {
      const file = join(state, path)
      if (((await lstat(file)).mode & 0o7777) !== mode || !content.equals(await readFile(file))) return false
    } catch (error) {
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false
      throw error
    }
  }
  return true
}

async function filesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(ignoring('ENOENT'))
  return (entries ?? []).filter((entry) => entry.isFile()).map(({ name }) => name)
}

/** Creates an empty, world-writable directory. */
export async function makeEmptyDirectory(volume: string): Promise<void> {
  await mkdir(volume, { recursive: true })
  await chmod(volume, 0o777)
}
