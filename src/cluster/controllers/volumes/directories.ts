/**
 * The directories of volumes: each below one root, named after its volume, with mode 0700. Only what was made here is
 * removed: a mark beside each directory says so. The mark outlives its directory until the volume is gone, so that a
 * directory that was removed here differs from one that is on another machine. No link is followed: what is not a plain
 * directory is refused.
 */
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFile, makeDirectory } from '../../../base/files/files.ts'

export class VolumeDirectories {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  pathOf(name: string): string {
    // Names come from objects; one like `..` must not lead out of the root.
    if (!isVolumeName(name)) throw new Error(`${JSON.stringify(name)} is not the name of a volume made here`)
    return join(this.#root, name)
  }

  /** Makes the directory of a volume, unless it is there from an attempt before; returns its path. */
  async make(name: string): Promise<string> {
    const path = this.pathOf(name)
    await makeDirectory(this.#root, 0o700)
    await assertDirectory(this.#root)
    const isMarked = await exists(this.#markOf(name))
    if (!isMarked && (await exists(path))) throw new Error(`${path} is there already, and was not made here`)
    // The mark first: a directory without one would be nobody's to remove.
    await createFile(this.#markOf(name), '', 0o600)
    await makeDirectory(path, 0o700)
    await assertDirectory(path)
    // A volume of the same name that is gone may have taken the mark with it.
    await createFile(this.#markOf(name), '', 0o600)
    return path
  }

  /**
   * Removes the directory of a volume with all that is in it. `absent`: neither the directory nor its mark is here, so
   * another machine may have it.
   */
  async remove(name: string, path: string): Promise<'removed' | 'absent'> {
    if (path !== this.pathOf(name)) throw new Error(`${path} is not the directory of the volume ${name}`)
    const isMade = await exists(path)
    const isMarked = await exists(this.#markOf(name))
    if (!isMade) return isMarked ? 'removed' : 'absent'
    await assertDirectory(this.#root)
    if (!isMarked) throw new Error(`${path} was not made here`)
    await assertDirectory(path)
    // Links in it are removed, not followed.
    await rm(path, { recursive: true })
    return 'removed'
  }

  /** Removes the mark of a volume that is gone, unless its directory is still here. */
  async forget(name: string): Promise<void> {
    if (isVolumeName(name) && !(await exists(this.pathOf(name)))) await rm(this.#markOf(name), { force: true })
  }

  #markOf(name: string): string {
    return join(this.#root, `.${name}.made`)
  }
}

function isVolumeName(name: string): boolean {
  return /^pvc-[0-9a-f-]{36}$/.test(name)
}

async function assertDirectory(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a directory`)
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
