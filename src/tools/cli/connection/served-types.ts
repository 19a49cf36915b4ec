/**
 * The types of a server, asked for as late and as little as possible: a manifest needs the one group version that it
 * names, a word such as `cm` mostly the core group alone, and only other words all of them.
 */

import { groupOf, versionOf } from '../../../api/model/api-version.ts'
import { groupOfOtherProfile, profileHint, type Vendor, vendorOf } from '../../../api/model/vendor.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, type DiscoveredTypes, discover, typesOf } from '../../../client/requests/discovery.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { findType, matchType } from './find-type.ts'

/** The server has no such kind. */
export class UnknownKindError extends UsageError {}

export class ServedTypes {
  readonly #client: Client
  readonly #signal: AbortSignal
  readonly #versions = new Map<string, Promise<DiscoveredType[]>>()
  #all: Promise<DiscoveredTypes> | undefined
  #vendor: Promise<Vendor> | undefined

  constructor(client: Client, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  /** What was learnt may be out of date, since new kinds were defined: it is asked for again. */
  forget(): void {
    this.#versions.clear()
    this.#all = undefined
  }

  all(): Promise<DiscoveredTypes> {
    this.#all ??= discover(this.#client, { signal: this.#signal })
    return this.#all
  }

  /**
   * The type that a word names. What the core group has under this name comes first anyway, so that the other groups
   * are not asked; nor are they where the word says group and version: `leases.v1.coordination.orch.io`.
   */
  async named(word: string): Promise<DiscoveredType> {
    const [name = '', version = '', ...group] = word.split('.')
    if (word.split('.').length === 1) {
      const found = matchType(await this.#inVersion('', 'v1'), name)
      if (found !== undefined) return found
    } else if (/^v\d/.test(version)) {
      const found = matchType(await this.#inVersion(group.join('.'), version), name)
      if (found !== undefined) return found
    }
    return findType(await this.all(), word)
  }

  /** The types that a word names: one, or those of a category such as `all`. */
  async namedAll(word: string): Promise<DiscoveredType[]> {
    if (word === 'all') return await this.#inCategory(word)
    try {
      return [await this.named(word)]
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      const types = await this.#inCategory(word)
      if (types.length === 0) throw error
      return types
    }
  }

  async #inCategory(word: string): Promise<DiscoveredType[]> {
    return (await this.all()).types.filter(({ categories }) => categories.includes(word))
  }

  /** The type of an object, by its apiVersion and kind. */
  async ofKind(apiVersion: string, kind: string): Promise<DiscoveredType> {
    const group = groupOf(apiVersion)
    const version = versionOf(apiVersion)
    const found = (await this.#inVersion(group, version)).find((type) => type.kind === kind)
    if (found !== undefined) return found
    const vendor = await this.vendor()
    const other = groupOfOtherProfile(vendor, group)
    const isOther = other !== undefined && (await this.#inVersion(other.group, version)).length > 0
    const hint = !isOther ? '`orchctl api-resources` lists what there is' : profileHint(vendor, other)
    throw new UnknownKindError(
      `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}: ${hint}`,
    )
  }

  /** Whose names the server speaks: those of Kubernetes, or its own. */
  vendor(): Promise<Vendor> {
    this.#vendor ??= this.#askVendor()
    return this.#vendor
  }

  async #askVendor(): Promise<Vendor> {
    const { groups } = await this.#client.read<{ groups: { name: string }[] }>('/apis', { signal: this.#signal })
    const { groupDomain } = vendorOf('kubernetes')
    return vendorOf(groups.some(({ name }) => name === `storage.${groupDomain}`) ? 'kubernetes' : 'orch')
  }

  /** Those of one group version; none where the server has no such version. */
  #inVersion(group: string, version: string): Promise<DiscoveredType[]> {
    const key = `${group}/${version}`
    let asked = this.#versions.get(key)
    if (asked === undefined) {
      asked = typesOf(this.#client, { group, version }, { signal: this.#signal }).catch((error: unknown) => {
        if (isNotFound(error)) return []
        throw error
      })
      this.#versions.set(key, asked)
    }
    return asked
  }
}
