/**
 * How much the files of volumes may take: of one pod, and of all pods of this process. A pod of a few kilobytes can name
 * one large key of a ConfigMap hundreds of times, and each name is a file of its own. A file counts in whole pages,
 * because that is what a file system in memory uses for it.
 */
import { statfsSync } from 'node:fs'
import type { VolumeFiles } from './atomic-files.ts'
import { VolumeError } from './volume-error.ts'

const mib = 1024 * 1024
const maxPodBytes = 16 * mib
const maxTotalBytes = 2048 * mib
/** The part of the free space that is left to other programs. */
const reservedPart = 0.5
const pageBytes = 4096

interface PodCharge {
  total: number
  /** By the volume's directory. */
  readonly volumes: Map<string, number>
}

export class StorageQuota {
  readonly #directory: string
  /** By the pod's uid. */
  readonly #pods = new Map<string, PodCharge>()
  #total = 0
  #limit: number | undefined

  /** `directory` lies on the file system that the files are written to. */
  constructor(directory: string) {
    this.#directory = directory
  }

  /** Charges a pod for the files of one volume, in place of those before. Throws VolumeError if it may not have them. */
  charge(uid: string, volume: string, files: VolumeFiles): void {
    const pod = this.#pods.get(uid) ?? { total: 0, volumes: new Map<string, number>() }
    const bytes = bytesOf(files)
    const change = bytes - (pod.volumes.get(volume) ?? 0)
    if (pod.total + change > maxPodBytes)
      throw new VolumeError(
        `no space left on device: the volumes of the pod take ${pod.total + change} bytes, the limit is ${maxPodBytes}`,
      )
    this.#limit ??= freeBytes(this.#directory)
    if (change > 0 && this.#total + change > this.#limit)
      throw new VolumeError('no space left on device: the volumes of simulated pods use all of their space')
    pod.total += change
    this.#total += change
    pod.volumes.set(volume, bytes)
    this.#pods.set(uid, pod)
  }

  /** The pod has no files any more. */
  release(uid: string): void {
    this.#total -= this.#pods.get(uid)?.total ?? 0
    this.#pods.delete(uid)
  }
}

/** One page for the directory, and the pages of each file. */
function bytesOf(files: VolumeFiles): number {
  let pages = 1
  for (const { content } of files.values()) pages += Math.max(1, Math.ceil(content.length / pageBytes))
  return pages * pageBytes
}

/** What volumes may take of the free space, at most two gibibytes. */
function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return Math.min(maxTotalBytes, bavail * bsize * (1 - reservedPart))
}
