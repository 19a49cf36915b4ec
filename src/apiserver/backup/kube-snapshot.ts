/**
 * Reads the etcd of a kube-apiserver at one revision, and converts its contents to entries for a store with the profile
 * `kubernetes`. Never writes to that etcd. Skipped keys are counted by reason, with one example each.
 */
import { vendorOf } from '../../api/model/vendor.ts'
import { type EmulatedVersion, oldestVersion } from '../../api/versions/emulated-version.ts'
import type { Entry } from '../../storage/store/store.ts'
import { emulatedVersionKey } from '../registry/reads/other-versions.ts'
import { type Defined, definedBy, definitionsPlace, type ForeignEntry, KubeObjects } from './kube-objects.ts'
import type { Snapshot } from './snapshot.ts'

/** Reads the etcd of the other server in pages. */
export interface ForeignReader {
  readonly revision: number
  pages(prefix: string): AsyncIterable<readonly ForeignEntry[]>
}

/** Number of keys that were not migrated for this reason. */
export interface LeftBehind {
  readonly why: string
  count: number
  /** One of these keys, as an example. */
  readonly example: string
}

/** Converts the contents of a kube-apiserver's etcd to entries for this store. */
export class KubeSnapshot implements Snapshot {
  readonly revision: number
  readonly leftBehind = new Map<string, LeftBehind>()
  readonly #reader: ForeignReader
  readonly #prefix: string
  readonly #version: EmulatedVersion
  readonly #vendor = vendorOf('kubernetes')

  /**
   * Reads a snapshot. `prefix` is the key prefix of the other server, such as `/registry/`, and `version` is its
   * Kubernetes version.
   */
  constructor(
    reader: ForeignReader,
    { prefix, version }: { readonly prefix: string; readonly version: EmulatedVersion },
  ) {
    this.#reader = reader
    this.#prefix = prefix
    this.#version = version
    this.revision = reader.revision
  }

  async *pages(): AsyncGenerator<readonly Entry[]> {
    this.leftBehind.clear()
    yield [{ key: 'meta/profile', revision: 1, value: Buffer.from('kubernetes') }, ...this.#versionRecord()]
    const target = { vendor: this.#vendor, version: this.#version }
    const objects = new KubeObjects(target, await this.#definitions())
    for await (const page of this.#reader.pages(this.#prefix)) {
      const entries = page.flatMap((entry) => this.#convert(objects, entry))
      if (entries.length > 0) yield entries
    }
  }

  /**
   * Returns the entry that records the Kubernetes version of the store. Returns no entry for the oldest version, which
   * is assumed if no version is recorded.
   */
  #versionRecord(): Entry[] {
    if (this.#version === oldestVersion) return []
    return [{ key: emulatedVersionKey, revision: 1, value: Buffer.from(this.#version) }]
  }

  #convert(objects: KubeObjects, entry: ForeignEntry): readonly Entry[] {
    const place = entry.key.slice(this.#prefix.length)
    const converted = isOwnRecord(place)
      ? ({ outcome: 'left', why: ownRecord } as const)
      : objects.convert(place, entry)
    if (converted.outcome === 'entries') return converted.entries
    const before = this.leftBehind.get(converted.why)
    if (before !== undefined) before.count++
    else this.leftBehind.set(converted.why, { why: converted.why, count: 1, example: entry.key })
    return []
  }

  async #definitions(): Promise<Defined[]> {
    const definedResources: Defined[] = []
    for await (const page of this.#reader.pages(this.#prefix + definitionsPlace(this.#vendor)))
      for (const entry of page) {
        const defined = definedBy(entry)
        if (defined !== undefined) definedResources.push(defined)
      }
    return definedResources
  }
}

const ownRecord = 'a server-internal record, which orch manages itself'

/**
 * Skip allocation records, because they can be derived from the objects. Also skip leases of API servers, because
 * running servers create them again.
 */
function isOwnRecord(place: string): boolean {
  return ['ranges/', 'masterleases/', 'peerserverleases/'].some((prefix) => place.startsWith(prefix))
}
