/**
 * Volumes of pods in a directory of this process. configMap, secret, downwardAPI and projected volumes contain files
 * that are updated atomically. emptyDir volumes are directories whose size is checked periodically. Other volumes are
 * not created, because the containers are simulated. The volumes of a pod are removed with the pod.
 */
import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Volume } from '../../../api/kinds/core/types/volume.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { ignoring } from '../../../base/files/files.ts'
import { codeOf } from '../../../base/text/errors.ts'
import type { TimerClock } from '../../../base/time/clock.ts'
import type { Client } from '../../../client/requests/client.ts'
import { StatusError } from '../../../client/requests/status-error.ts'
import { makeEmptyDirectory, type VolumeFiles, writeFiles } from './atomic-files.ts'
import type { NodeAmounts } from './downward.ts'
import { emptyDirLimit, usedBytes } from './memory-limit.ts'
import { PodTokens } from './pod-tokens.ts'
import { SourceObjects } from './source-objects.ts'
import { StorageQuota } from './storage-quota.ts'
import { VolumeError } from './volume-error.ts'
import { volumeFiles } from './volume-files.ts'

export interface PodVolumeParts {
  /**
   * Directory that contains the directories of the pods. It contains secrets, so only the user of this process should
   * be able to read it.
   */
  readonly directory: string
  readonly vendor: Vendor
  readonly clock: TimerClock
  readonly amountsOf: (node: string) => NodeAmounts
  /** Maximum age of cached ConfigMaps and Secrets, in milliseconds. */
  readonly pollMs?: number
}

const usualPollMs = 10_000
/** Maximum number of ConfigMaps and Secrets to read per poll. */
const maxPolled = 100
/** Interval in milliseconds between checks of the size of limited directories. */
const measureMs = 10_000
const maxTimerMs = 86_400_000
/** Maximum number of tokens per pod. The limit is needed because the API server must sign each token. */
const maxTokens = 64

export class PodVolumes {
  readonly #parts: PodVolumeParts
  readonly #objects: SourceObjects
  readonly #tokens: PodTokens
  readonly #quota: StorageQuota
  /** Digest of the last write to each volume. Files with the same digest are not written again. */
  readonly #writeDigests = new Map<string, string>()
  /** UIDs of pods with files on disk. */
  readonly #pods = new Set<string>()

  constructor(parts: PodVolumeParts) {
    this.#parts = parts
    this.#objects = new SourceObjects(parts.clock, parts.pollMs ?? usualPollMs)
    this.#tokens = new PodTokens(parts.clock, parts.vendor)
    this.#quota = new StorageQuota(parts.directory)
  }

  /** Interval in milliseconds at which `poll` must be called. */
  get pollMs(): number {
    return this.#parts.pollMs ?? usualPollMs
  }

  /** Writes the volumes of a pod. If a volume cannot be written, returns the reason, and the pod cannot start. */
  async prepare(pod: Pod, client: Client): Promise<string | undefined> {
    this.#pods.add(pod.metadata.uid ?? '')
    if (tokenCount(pod) > maxTokens)
      return `the pod's volumes request ${tokenCount(pod)} tokens; the limit is ${maxTokens}`
    for (const volume of pod.spec?.volumes ?? []) {
      const reason = await this.#write(pod, volume, client)
      if (reason !== undefined) return `MountVolume.SetUp failed for volume "${volume.name}": ${reason}`
    }
    return undefined
  }

  /**
   * Updates the volumes of a running pod. Returns the milliseconds until the next update. If a directory exceeds its
   * limit, returns the reason for evicting the pod instead.
   */
  async keepUp(pod: Pod, client: Client): Promise<{ afterMs?: number; evict?: string }> {
    await this.prepare(pod, client)
    const evict = await this.#outgrown(pod)
    if (evict !== undefined) return { evict }
    const stale = this.#tokens.nextStale(pod)
    const untilStale = stale === undefined ? maxTimerMs : Math.max(1000, stale - this.#parts.clock.now())
    const afterMs = Math.min(untilStale, this.#hasLimit(pod) ? measureMs : maxTimerMs, maxTimerMs)
    return afterMs === maxTimerMs && stale === undefined ? {} : { afterMs }
  }

  /** Returns the keys of pods whose ConfigMaps or Secrets have changed. */
  async poll(): Promise<string[]> {
    return await this.#objects.poll(maxPolled)
  }

  /** Removes the files of a pod and all state about the pod. */
  async remove(pod: Pod): Promise<void> {
    if (!this.#pods.delete(pod.metadata.uid ?? '')) return
    this.#objects.release(keyOf(pod))
    this.#tokens.forget(pod.metadata.uid ?? '')
    this.#quota.release(pod.metadata.uid ?? '')
    for (const volume of pod.spec?.volumes ?? []) this.#writeDigests.delete(this.volumeDirectory(pod, volume) ?? '')
    await rm(this.podDirectory(pod), { recursive: true, force: true })
  }

  /** Removes the files of pods that were deleted while this process was not running. */
  async removeAllBut(uids: ReadonlySet<string>): Promise<void> {
    const present = (await readdir(join(this.#parts.directory, 'pods')).catch(ignoring('ENOENT'))) ?? []
    for (const uid of present)
      if (!uids.has(uid)) await rm(join(this.#parts.directory, 'pods', uid), { recursive: true, force: true })
  }

  /** Returns the directory of a volume, or undefined if volumes of this type are not created. */
  volumeDirectory(pod: Pod, volume: Volume): string | undefined {
    const sort = sorts.find((each) => volume[each] !== undefined)
    if (sort === undefined) return undefined
    const plugin = `${this.#parts.vendor.keyDomain}~${sort === 'emptyDir' ? 'empty-dir' : sort.toLowerCase()}`
    return join(this.podDirectory(pod), 'volumes', plugin, safe(volume.name ?? ''))
  }

  podDirectory({ metadata }: Pod): string {
    return join(this.#parts.directory, 'pods', safe(metadata.uid ?? ''))
  }

  async #write(pod: Pod, volume: Volume, client: Client): Promise<string | undefined> {
    const directory = this.volumeDirectory(pod, volume)
    if (directory === undefined) return undefined
    try {
      if (volume.emptyDir !== undefined) {
        this.#quota.charge(pod.metadata.uid ?? '', directory, new Map())
        await makeEmptyDirectory(directory)
      } else await this.#writeFiles(pod, { volume, directory }, client)
      return undefined
    } catch (error) {
      if (error instanceof VolumeError || error instanceof StatusError) return error.message
      if (codeOf(error) === 'ENOSPC') return 'no space left on device'
      throw error
    }
  }

  async #writeFiles(
    pod: Pod,
    { volume, directory }: { readonly volume: Volume; readonly directory: string },
    client: Client,
  ): Promise<void> {
    const amounts = this.#parts.amountsOf(pod.spec?.nodeName ?? '')
    const sources = { objects: this.#objects, tokens: this.#tokens, client, podKey: keyOf(pod), amounts }
    const files = await volumeFiles(pod, volume, sources)
    if (files === undefined) return
    this.#quota.charge(pod.metadata.uid ?? '', directory, files)
    const digest = digestOf(files)
    if (this.#writeDigests.get(directory) === digest) return
    const group = pod.spec?.securityContext?.fsGroup
    if (group === undefined) await writeFiles(directory, files)
    else await writeFiles(directory, readableByGroup(files), { group: Number(group) })
    this.#writeDigests.set(directory, digest)
  }

  #hasLimit({ spec }: Pod): boolean {
    return (spec?.volumes ?? []).some(
      ({ emptyDir }) => emptyDir?.sizeLimit !== undefined || emptyDir?.medium === 'Memory',
    )
  }

  async #outgrown(pod: Pod): Promise<string | undefined> {
    if (!this.#hasLimit(pod)) return undefined
    const { memory = '' } = this.#parts.amountsOf(pod.spec?.nodeName ?? '')
    for (const volume of pod.spec?.volumes ?? []) {
      const limit = volume.emptyDir === undefined ? undefined : emptyDirLimit(volume, pod.spec!, memory)
      if (limit !== undefined && (await usedBytes(this.volumeDirectory(pod, volume)!)) > limit)
        return `Usage of EmptyDir volume "${volume.name}" exceeds the limit "${limit}".`
    }
    return undefined
  }
}

const sorts = ['configMap', 'secret', 'downwardAPI', 'projected', 'emptyDir'] as const

function keyOf({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`
}

/** Returns a name that is safe as part of a path, even if the API server sent a malicious name. */
function safe(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(name))
    throw new VolumeError(`${JSON.stringify(name.slice(0, 100))} cannot be used as a directory name`)
  return name
}

function tokenCount({ spec }: Pod): number {
  const sources = (spec?.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])
  return sources.filter(({ serviceAccountToken }) => serviceAccountToken !== undefined).length
}

function digestOf(files: VolumeFiles): string {
  const hash = createHash('sha256')
  for (const [path, { content, mode }] of files) hash.update(`${path}\0${mode}\0${content.length}\0`).update(content)
  return hash.digest('base64')
}

/** Returns the files with group read permission added. */
function readableByGroup(files: VolumeFiles): VolumeFiles {
  return new Map([...files].map(([path, { content, mode }]) => [path, { content, mode: mode | 0o440 }]))
}
