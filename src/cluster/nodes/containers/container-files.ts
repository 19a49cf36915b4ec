/** Files that are visible in a simulated container: only the files of the mounted volumes, and `/etc/hostname`. */
import { createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import { Readable } from 'node:stream'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodVolumes } from '../volumes/pod-volumes.ts'
import { hostnameOf } from './environment.ts'

const maxFileBytes = 4 * 1024 * 1024
/** Chunk size for reading files. The chunks are small because many commands may read at the same time. */
const partBytes = 64 * 1024
/** Maximum length of a path, as on Linux. */
const maxPathLength = 4096

interface Mount {
  /** Path of the mount in the container. */
  readonly at: string
  readonly directory: string
  readonly within: string
}

export class ContainerFiles {
  readonly #pod: Pod
  /** Mounts by their path in the container. */
  readonly #mounts: ReadonlyMap<string, Mount>

  constructor(pod: Pod, container: Container, volumes: PodVolumes | undefined) {
    this.#pod = pod
    this.#mounts = mountsOf(pod, container, volumes)
  }

  /** Returns the content of a file in chunks, or undefined if the file does not exist. */
  async read(path: string): Promise<AsyncIterable<Buffer> | undefined> {
    const absolutePath = posix.resolve('/', path)
    if (absolutePath === '/etc/hostname') return Readable.from([Buffer.from(`${hostnameOf(this.#pod)}\n`)])
    const file = await this.#findFile(absolutePath)
    return file === undefined ? undefined : createReadStream(file, { highWaterMark: partBytes })
  }

  /** Whether a file with this name exists. */
  async has(path: string): Promise<boolean> {
    const absolutePath = posix.resolve('/', path)
    return absolutePath === '/etc/hostname' || (await this.#findFile(absolutePath)) !== undefined
  }

  /** Returns the names in a directory, or undefined if the directory does not exist. */
  async list(path: string): Promise<string[] | undefined> {
    const absolutePath = posix.resolve('/', path)
    const directory = await this.#find(absolutePath)
    const inside = directory === undefined ? undefined : await readdir(directory).catch(() => undefined)
    const prefix = absolutePath === '/' ? '/' : `${absolutePath}/`
    const mounted = this.#mounts
      .keys()
      .filter((at) => at.startsWith(prefix))
      .map((at) => at.slice(prefix.length).split('/', 1)[0]!)
      .toArray()
    if (inside === undefined && mounted.length === 0 && absolutePath !== '/') return undefined
    return [...new Set([...(inside ?? []).filter((name) => !name.startsWith('..')), ...mounted])].sort()
  }

  async #findFile(absolutePath: string): Promise<string | undefined> {
    const file = await this.#find(absolutePath)
    const state = file === undefined ? undefined : await stat(file).catch(() => undefined)
    return state?.isFile() && state.size <= maxFileBytes ? file : undefined
  }

  /**
   * Resolves a container path to a path on this machine. The result never leaves the volume, even through symbolic
   * links.
   */
  async #find(absolutePath: string): Promise<string | undefined> {
    const mount = this.#mountOf(absolutePath)
    if (mount === undefined) return undefined
    const real = await realpath(join(mount.directory, mount.within, absolutePath.slice(mount.at.length))).catch(
      () => undefined,
    )
    const root = await realpath(mount.directory).catch(() => undefined)
    return real !== undefined && root !== undefined && (real === root || real.startsWith(root + sep)) ? real : undefined
  }

  /** Returns the mount with the longest matching path, because volumes can be mounted inside other volumes. */
  #mountOf(absolutePath: string): Mount | undefined {
    if (absolutePath.length > maxPathLength) return undefined
    for (let at = absolutePath; ; at = posix.dirname(at)) {
      const mount = this.#mounts.get(at)
      if (mount !== undefined || at === '/') return mount
    }
  }
}

function mountsOf(pod: Pod, container: Container, volumes: PodVolumes | undefined): ReadonlyMap<string, Mount> {
  const byName = new Map(pod.spec?.volumes?.map((volume) => [volume.name, volume]))
  const mounts = new Map<string, Mount>()
  for (const { name, mountPath = '', subPath = '' } of container.volumeMounts ?? []) {
    const volume = byName.get(name)
    const directory = volume === undefined ? undefined : volumes?.volumeDirectory(pod, volume)
    const at = posix.resolve('/', mountPath)
    if (directory !== undefined && !mounts.has(at)) mounts.set(at, { at, directory, within: subPath })
  }
  return mounts
}
