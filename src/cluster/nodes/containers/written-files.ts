/**
 * Files that commands have written in simulated containers, for example through `kubectl cp`. The files exist only in
 * memory, either in the writable layer of one container instance or in an emptyDir volume that the containers of a pod
 * share. The files of a pod are deleted with the pod. All sizes are limited, because users determine the content.
 */

const mib = 1024 * 1024
/** Maximum size of one file in bytes. */
export const maxFileBytes = 4 * mib
const maxPodBytes = 16 * mib
const maxTotalBytes = 64 * mib
/** Fixed overhead in bytes that is charged for each file in addition to its content and name. */
const fileOverhead = 256

/** A file or directory that a simulated command has created. */
export interface WrittenFile {
  readonly type: 'file' | 'directory'
  readonly mode: number
  readonly content: Buffer
}

/** Thrown if a limit is exceeded. The message is the same as on Linux. */
export class NoSpaceError extends Error {
  override readonly name = 'NoSpaceError'

  constructor() {
    super('No space left on device')
  }
}

interface PodFiles {
  bytes: number
  readonly files: Map<string, WrittenFile>
}

/** In-memory storage for the files that commands create in the pods of a simulation. */
export class WrittenFiles {
  readonly #pods = new Map<string, PodFiles>()
  #bytes = 0

  /**
   * Returns a file of a pod, or undefined if the file does not exist. `place` is the key of the file: its volume or
   * layer, followed by its path within that volume or layer.
   */
  get(uid: string, place: string): WrittenFile | undefined {
    return this.#pods.get(uid)?.files.get(place)
  }

  /** Returns the keys of a pod's files that start with the prefix. */
  places(uid: string, prefix: string): string[] {
    const files = this.#pods.get(uid)?.files
    return files === undefined ? [] : [...files.keys()].filter((place) => place.startsWith(prefix))
  }

  /**
   * Creates or replaces a file of a known size, and returns a content object that the caller fills. Throws NoSpaceError
   * if the file does not fit.
   */
  create(uid: string, place: string, { type, mode, size }: Omit<WrittenFile, 'content'> & { size: number }): Buffer {
    const pod = this.#pods.get(uid) ?? { bytes: 0, files: new Map<string, WrittenFile>() }
    const before = pod.files.get(place)
    const change = chargedBytes(place, size) - (before === undefined ? 0 : chargedBytes(place, before.content.length))
    if (size > maxFileBytes || pod.bytes + change > maxPodBytes || this.#bytes + change > maxTotalBytes)
      throw new NoSpaceError()
    pod.bytes += change
    this.#bytes += change
    const content = Buffer.alloc(size)
    pod.files.set(place, { type, mode, content })
    this.#pods.set(uid, pod)
    return content
  }

  /** Removes the files of a pod. */
  forget(uid: string): void {
    this.#bytes -= this.#pods.get(uid)?.bytes ?? 0
    this.#pods.delete(uid)
  }
}

function chargedBytes(place: string, size: number): number {
  return place.length + size + fileOverhead
}
