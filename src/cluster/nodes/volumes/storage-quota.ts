/**
 * Storage limits for volume files, both for each pod and for all pods of this process together. Limits are needed
 * because even a small pod can reference one large key of a ConfigMap hundreds of times, and each reference becomes a
 * file. Files are charged in whole pages, because an in-memory file system allocates whole pages.
 */
import { statfsSync } from 'node:fs'
import type { VolumeFiles } from './atomic-files.ts'
import { VolumeError } from './volume-error.ts'

const mib = 1024 * 1024
const maxPodBytes = 16 * mib
const maxTotalBytes = 2048 * mib
/** Fraction of the free space that is reserved for other programs. */
const reservedPart = 0.5
const pageBytes = 4096

interface PodCharge {
  total: number
  /** Bytes used by each volume, by volume directory. */
  readonly volumes: Map<string, number>
}

export class StorageQuota {
  readonly #directory: string
  /** Storage charged to each pod, by UID. */
  readonly #pods = new Map<string, PodCharge>()
  #total = 0
  #limit: number | undefined

  /** Creates the quota. `directory` is on the file system to which the files are written. */
  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Reserves space for the files of one volume, replacing the volume's previous charge. Throws VolumeError if a limit
   * is exceeded.
   */
  charge(uid: string, volume: string, files: VolumeFiles): void {
    const pod = this.#pods.get(uid) ?? { total: 0, volumes: new Map<string, number>() }
    const bytes = bytesOf(files)
    const change = bytes - (pod.volumes.get(volume) ?? 0)
    if (pod.total + change > maxPodBytes)
      throw new VolumeError(
        `no space left on device: the pod's volumes use ${pod.total + change} bytes, which exceeds the limit of ${maxPodBytes} bytes`,
      )
    this.#limit ??= freeBytes(this.#directory)
    if (change > 0 && this.#total + change > this.#limit)
      throw new VolumeError('no space left on device: the volumes of simulated pods use all available space')
    pod.total += change
    this.#total += change
    pod.volumes.set(volume, bytes)
    this.#pods.set(uid, pod)
  }

  /** Releases the space of all volumes of a pod. */
  release(uid: string): void {
    this.#total -= this.#pods.get(uid)?.total ?? 0
    this.#pods.delete(uid)
  }
}

/** Returns the charged size of files: one page for the directory, plus whole pages for each file. */
function bytesOf(files: VolumeFiles): number {
  let pages = 1
  for (const { content } of files.values()) pages += Math.max(1, Math.ceil(content.length / pageBytes))
  return pages * pageBytes
}

/** Returns the amount of free space that volumes may use: a fixed fraction, but at most 2 GiB. */
function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return Math.min(maxTotalBytes, bavail * bsize * (1 - reservedPart))
}
