/**
 * ConfigMaps and Secrets that volumes use. Each object is read once for all pods that use it, and polled while it is in
 * use. Requests authenticate as the agent of a node that runs one of those pods. Stale data is dropped. Concurrent
 * reads are limited, because users decide how many objects their pods reference.
 */

import type { ConfigMap } from '../../../api/kinds/core/config-map.ts'
import type { Secret } from '../../../api/kinds/core/secret.ts'
import type { TimerClock } from '../../../base/time/clock.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { ReadLimit } from './read-limit.ts'

/** Identifies a ConfigMap or Secret. The namespace is always that of the pod. */
export interface SourceName {
  readonly plural: 'configmaps' | 'secrets'
  readonly namespace: string
  readonly name: string
}

/** The data of an object, by key. Undefined if the object does not exist. */
export type SourceData = ReadonlyMap<string, Buffer> | undefined

interface Source {
  readonly name: SourceName
  /** The clients of the nodes whose pods use the object, by pod key. */
  readonly users: Map<string, Client>
  /** The latest data of the object. Undefined if the data has expired. */
  data: Promise<SourceData> | undefined
  version: string
  isImmutable: boolean
  /** When the data was read, on the monotonic clock. */
  readonly readAt: number
}

export class SourceObjects {
  readonly #clock: TimerClock
  readonly #pollMs: number
  readonly #sources = new Map<string, Source>()
  readonly #usedBy = new Map<string, Set<string>>()
  readonly #reads = new ReadLimit()

  /** `pollMs` is the maximum age of the data. */
  constructor(clock: TimerClock, pollMs: number) {
    this.#clock = clock
    this.#pollMs = pollMs
  }

  /**
   * Returns the data of a ConfigMap or Secret. The data is at most `pollMs` old. After this call, the object is polled
   * for this pod.
   */
  read(name: SourceName, podKey: string, client: Client): Promise<SourceData> {
    const key = `${name.plural}/${name.namespace}/${name.name}`
    const used = this.#usedBy.get(podKey) ?? new Set<string>()
    this.#usedBy.set(podKey, used.add(key))
    const cachedSource = this.#sources.get(key)
    if (cachedSource?.data !== undefined && this.#isFresh(cachedSource)) {
      cachedSource.users.set(podKey, client)
      return cachedSource.data
    }
    return this.#load(key, name, new Map([...(cachedSource?.users ?? []), [podKey, client]]))
  }

  /** Records that the pod no longer uses any objects. Objects without users are dropped. */
  release(podKey: string): void {
    for (const key of this.#usedBy.get(podKey) ?? []) {
      const source = this.#sources.get(key)
      source?.users.delete(podKey)
      if (source?.users.size === 0) this.#sources.delete(key)
    }
    this.#usedBy.delete(podKey)
  }

  /** Reads up to `max` stale objects again. Returns the keys of pods whose objects have changed. */
  async poll(max: number): Promise<string[]> {
    const stale = [...this.#sources].filter(([, source]) => !this.#isFresh(source))
    for (const [, source] of stale) source.data = undefined
    const due = stale.filter(([, source]) => !source.isImmutable).slice(0, max)
    const changed = await Promise.all(due.map(([key, source]) => this.#again(key, source)))
    return [...new Set(changed.flat())]
  }

  async #again(key: string, { name, users, version }: Source): Promise<string[]> {
    if (users.size === 0) return []
    const loaded = this.#load(key, name, users)
    await loaded.catch(() => {})
    return this.#sources.get(key)?.version === version ? [] : [...users.keys()]
  }

  #isFresh({ readAt }: Source): boolean {
    return this.#clock.monotonic() - readAt < this.#pollMs
  }

  #load(key: string, name: SourceName, users: Map<string, Client>): Promise<SourceData> {
    const pendingData = Promise.withResolvers<SourceData>()
    const source: Source = {
      name,
      users,
      data: pendingData.promise,
      version: '',
      isImmutable: false,
      readAt: this.#clock.monotonic(),
    }
    this.#sources.set(key, source)
    const client = [...users.values()].at(-1)!
    void this.#reads
      .run(() => readSource(name, client))
      .then(
        ({ data, version, isImmutable }) => {
          Object.assign(source, { version, isImmutable })
          pendingData.resolve(data)
        },
        (error: unknown) => {
          // Remove the failed read from the cache, so that the next pod tries again.
          if (this.#sources.get(key) === source) this.#sources.delete(key)
          pendingData.reject(error)
        },
      )
    return pendingData.promise
  }
}

interface Loaded {
  readonly data: SourceData
  readonly version: string
  readonly isImmutable: boolean
}

/** Reads an object without caching it. */
export async function readSource({ plural, namespace, name }: SourceName, client: Client): Promise<Loaded> {
  try {
    const sourceObject =
      plural === 'secrets'
        ? await client.get(kinds.Secret, { namespace, name })
        : await client.get(kinds.ConfigMap, { namespace, name })
    const { uid = '', resourceVersion = '' } = sourceObject.metadata
    const data = plural === 'secrets' ? secretData(sourceObject as Secret) : configMapData(sourceObject as ConfigMap)
    return { data, version: `${uid} ${resourceVersion}`, isImmutable: sourceObject.immutable === true }
  } catch (error) {
    if (isNotFound(error)) return { data: undefined, version: 'missing', isImmutable: false }
    throw error
  }
}

function secretData({ data = {} }: Secret): Map<string, Buffer> {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value), 'base64')]))
}

function configMapData({ data = {}, binaryData = {} }: ConfigMap): Map<string, Buffer> {
  return new Map([
    ...Object.entries(data).map(([key, value]) => [key, Buffer.from(String(value))] as const),
    ...Object.entries(binaryData).map(([key, value]) => [key, Buffer.from(String(value), 'base64')] as const),
  ])
}
