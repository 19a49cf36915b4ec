/**
 * Files visible in a simulated container: files in the mounted volumes, files written by commands, and `/etc/hostname`.
 * Written files never reach the disk (`written-files.ts`).
 */
import { createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import { Readable } from 'node:stream'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodVolumes } from '../volumes/pod-volumes.ts'
import { hostnameOf } from './environment.ts'
import { maxFileBytes, type WrittenFiles } from './written-files.ts'

/** Chunk size in bytes for reading files. The chunks are small because many commands may read at the same time. */
const partBytes = 64 * 1024
/** Maximum length of a path, as on Linux. */
const maxPathLength = 4096

interface Mount {
  /** Mount path of the volume in the container. */
  readonly at: string
  /** Directory of the volume, or undefined if this node does not write volumes to disk. */
  readonly directory: string | undefined
  readonly within: string
  /**
   * Prefix of the keys under which `WrittenFiles` stores files in this volume. Undefined if the volume is read-only.
   */
  readonly writable: string | undefined
}

export interface FileDescription {
  readonly type: 'file' | 'directory'
  readonly mode: number
  readonly size: number
}

export interface ContainerFilesParts {
  readonly pod: Pod
  readonly container: Container
  readonly volumes: PodVolumes | undefined
  readonly written: WrittenFiles
  /** Number of restarts of the container. Selects the writable layer, because each container instance has its own. */
  readonly restartCount: number
  /** Working directory of the container, as an absolute path. Relative paths are resolved against it. */
  readonly workDir: string
}

const directory: FileDescription = { type: 'directory', mode: 0o755, size: 0 }

export class ContainerFiles {
  readonly #pod: Pod
  readonly #uid: string
  readonly #written: WrittenFiles
  readonly #workDir: string
  /** Prefix of the keys under which `WrittenFiles` stores files in the writable layer. */
  readonly #layer: string
  /** Mounts by their path in the container. */
  readonly #mounts: ReadonlyMap<string, Mount>

  constructor({ pod, container, volumes, written, restartCount, workDir }: ContainerFilesParts) {
    this.#pod = pod
    this.#uid = pod.metadata.uid ?? ''
    this.#written = written
    this.#workDir = workDir
    this.#layer = `layer ${container.name} ${restartCount} `
    this.#mounts = mountsOf(pod, container, volumes)
  }

  /** Opens a file and returns its content in chunks, or undefined if the file does not exist. */
  async read(path: string): Promise<AsyncIterable<Buffer> | undefined> {
    const absolutePath = posix.resolve(this.#workDir, path)
    const file = this.#writtenAt(absolutePath)
    if (file !== undefined) return file.type === 'file' ? Readable.from([file.content]) : undefined
    if (absolutePath === '/etc/hostname') return Readable.from([this.#hostname()])
    const real = await this.#find(absolutePath)
    const state = real === undefined ? undefined : await stat(real).catch(() => undefined)
    if (real === undefined || !state?.isFile() || state.size > maxFileBytes) return undefined
    return createReadStream(real, { highWaterMark: partBytes })
  }

  /** Returns the type and size of a file or directory, or undefined if it does not exist. */
  async describe(path: string): Promise<FileDescription | undefined> {
    const absolutePath = posix.resolve(this.#workDir, path)
    const file = this.#writtenAt(absolutePath)
    if (file !== undefined) return { type: file.type, mode: file.mode, size: file.content.length }
    if (absolutePath === '/etc/hostname') return { type: 'file', mode: 0o644, size: this.#hostname().length }
    const real = await this.#find(absolutePath)
    const state = real === undefined ? undefined : await stat(real).catch(() => undefined)
    if (state?.isFile()) return { type: 'file', mode: state.mode & 0o777, size: state.size }
    return (await this.list(absolutePath)) === undefined ? undefined : directory
  }

  /** Returns the names in a directory, or undefined if the directory does not exist. */
  async list(path: string): Promise<string[] | undefined> {
    const absolutePath = posix.resolve(this.#workDir, path)
    const real = await this.#find(absolutePath)
    const inside = real === undefined ? undefined : await readdir(real).catch(() => undefined)
    const prefix = absolutePath === '/' ? '/' : `${absolutePath}/`
    const nameOf = (longer: string, start: string) => longer.slice(start.length).split('/', 1)[0]!
    const mounted = [...this.#mounts.keys()].filter((at) => at.startsWith(prefix)).map((at) => nameOf(at, prefix))
    const place = this.#placeOf(prefix)
    const written = place === undefined ? [] : this.#written.places(this.#uid, place).map((each) => nameOf(each, place))
    const isDirectory = this.#writtenAt(absolutePath)?.type === 'directory' || absolutePath === '/'
    if (inside === undefined && mounted.length + written.length === 0 && !isDirectory) return undefined
    return [...new Set([...(inside ?? []).filter((name) => !name.startsWith('..')), ...mounted, ...written])].sort()
  }

  /**
   * Creates or replaces a file, and returns a content object that the caller fills. Returns undefined if the file would
   * be in a read-only volume. Throws NoSpaceError if the file does not fit.
   */
  create(path: string, description: FileDescription): Buffer | undefined {
    const place = this.#placeOf(posix.resolve(this.#workDir, path))
    return place === undefined ? undefined : this.#written.create(this.#uid, place, description)
  }

  #hostname(): Buffer {
    return Buffer.from(`${hostnameOf(this.#pod)}\n`)
  }

  #writtenAt(absolutePath: string) {
    const place = this.#placeOf(absolutePath)
    return place === undefined ? undefined : this.#written.get(this.#uid, place)
  }

  /** Returns the key of a path in `WrittenFiles`, or undefined if the path is in a read-only volume. */
  #placeOf(absolutePath: string): string | undefined {
    if (absolutePath.length > maxPathLength) return undefined
    const mount = this.#mountOf(absolutePath)
    if (mount === undefined) return this.#layer + absolutePath
    if (mount.writable === undefined) return undefined
    return mount.writable + posix.join('/', mount.within, absolutePath.slice(mount.at.length))
  }

  /**
   * Resolves a container path to a path on this machine. The result never escapes the volume, even through symbolic
   * links.
   */
  async #find(absolutePath: string): Promise<string | undefined> {
    const mount = this.#mountOf(absolutePath)
    if (mount?.directory === undefined) return undefined
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
  for (const { name, mountPath = '', subPath = '', readOnly } of container.volumeMounts ?? []) {
    const volume = byName.get(name)
    const source = volume === undefined ? undefined : volumes?.volumeDirectory(pod, volume)
    const writable = volume?.emptyDir !== undefined && readOnly !== true ? `volume ${name} ` : undefined
    const at = posix.resolve('/', mountPath)
    if ((source !== undefined || writable !== undefined) && !mounts.has(at))
      mounts.set(at, { at, directory: source, within: subPath, writable })
  }
  return mounts
}
