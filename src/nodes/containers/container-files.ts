/** The files that a simulated container sees: those of the volumes of its pod, where it mounts them, and nothing else. */
import { open, readdir, realpath } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import type { Pod } from '../../kinds/core/pod.ts'
import type { Container } from '../../kinds/core/types/container.ts'
import type { PodVolumes } from '../volumes/pod-volumes.ts'
import { hostnameOf } from './environment.ts'

const maxFileBytes = 4 * 1024 * 1024

export class ContainerFiles {
  readonly #pod: Pod
  readonly #container: Container
  readonly #volumes: PodVolumes | undefined

  constructor(pod: Pod, container: Container, volumes: PodVolumes | undefined) {
    this.#pod = pod
    this.#container = container
    this.#volumes = volumes
  }

  /** Undefined where there is no such file. */
  async read(path: string): Promise<Buffer | undefined> {
    const wanted = posix.resolve('/', path)
    if (wanted === '/etc/hostname') return Buffer.from(`${hostnameOf(this.#pod)}\n`)
    const file = await this.#find(wanted)
    if (file === undefined) return undefined
    try {
      await using handle = await open(file, 'r')
      const { size } = await handle.stat()
      return size > maxFileBytes ? undefined : await handle.readFile()
    } catch {
      // A directory, or gone by now.
      return undefined
    }
  }

  /** Undefined where there is no such directory. */
  async list(path: string): Promise<string[] | undefined> {
    const wanted = posix.resolve('/', path)
    const directory = await this.#find(wanted)
    const inside = directory === undefined ? undefined : await readdir(directory).catch(() => undefined)
    const prefix = wanted === '/' ? '/' : `${wanted}/`
    const mounted = this.#mounts().flatMap(({ at }) =>
      at.startsWith(prefix) ? [at.slice(prefix.length).split('/')[0]!] : [],
    )
    if (inside === undefined && mounted.length === 0 && wanted !== '/') return undefined
    return [...new Set([...(inside ?? []).filter((name) => !name.startsWith('..')), ...mounted])].sort()
  }

  /** Where a path of the container lies on this machine: within its volume, whatever links say. */
  async #find(wanted: string): Promise<string | undefined> {
    const mount = this.#mounts().find(({ at }) => wanted === at || wanted.startsWith(`${at}/`))
    if (mount === undefined) return undefined
    const real = await realpath(join(mount.directory, mount.within, wanted.slice(mount.at.length))).catch(
      () => undefined,
    )
    const root = await realpath(mount.directory).catch(() => undefined)
    return real !== undefined && root !== undefined && (real === root || real.startsWith(root + sep)) ? real : undefined
  }

  /** The longest path first: a volume may be mounted into another. */
  #mounts(): { readonly at: string; readonly directory: string; readonly within: string }[] {
    return (this.#container.volumeMounts ?? [])
      .flatMap(({ name, mountPath = '', subPath = '' }) => {
        const volume = this.#pod.spec?.volumes?.find((each) => each.name === name)
        const directory = volume === undefined ? undefined : this.#volumes?.volumeDirectory(this.#pod, volume)
        return directory === undefined ? [] : [{ at: posix.resolve('/', mountPath), directory, within: subPath }]
      })
      .sort((a, b) => b.at.length - a.at.length)
  }
}
