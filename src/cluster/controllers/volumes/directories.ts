/**
 * Creates and removes the directories of volumes. All directories are under one root, are named after their volume and
 * have mode 0700. The loop removes only directories that it created, which it identifies by a marker file next to each
 * directory. The marker remains until the volume is deleted, so the loop can distinguish a directory that it has
 * removed from a directory on another machine. Symbolic links are not followed, and anything that is not a plain
 * directory is rejected.
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
    // Rejects invalid names, because names come from API objects. A name such as `..` must not escape the root
    // directory.
    if (!isVolumeName(name))
      throw new Error(`${JSON.stringify(name)} is not the name of a volume from this provisioner`)
    return join(this.#root, name)
  }

  /** Creates the directory of a volume, or reuses it from an earlier attempt. Returns the path of the directory. */
  async make(name: string): Promise<string> {
    const path = this.pathOf(name)
    await makeDirectory(this.#root, 0o700)
    await assertDirectory(this.#root)
    const isMarked = await exists(this.#markOf(name))
    if (!isMarked && (await exists(path)))
      throw new Error(`${path} already exists and was not created by this provisioner`)
    // The marker is created before the directory. Without a marker, the directory would never be removed.
    await createFile(this.#markOf(name), '', 0o600)
    await makeDirectory(path, 0o700)
    await assertDirectory(path)
    // The deletion of an earlier volume with the same name may have removed the marker.
    await createFile(this.#markOf(name), '', 0o600)
    return path
  }

  /**
   * Removes the directory of a volume with its contents. `absent` means that neither the directory nor its marker
   * exists, so the directory may be on another machine.
   */
  async remove(name: string, path: string): Promise<'removed' | 'absent'> {
    if (path !== this.pathOf(name)) throw new Error(`${path} is not the directory of volume ${name}`)
    const isMade = await exists(path)
    const isMarked = await exists(this.#markOf(name))
    if (!isMade) return isMarked ? 'removed' : 'absent'
    await assertDirectory(this.#root)
    if (!isMarked) throw new Error(`${path} was not created by this provisioner`)
    await assertDirectory(path)
    // Removes symbolic links in the directory without following them.
    await rm(path, { recursive: true })
    return 'removed'
  }

  /** Removes the marker of a deleted volume, unless its directory still exists. */
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
