/**
 * The types that a server serves. Discovery requests only the required groups: only the group version for a manifest,
 * usually only the core group for a word such as `cm`, and all groups for other words.
 */

import { groupOf, versionOf } from '../../../api/model/api-version.ts'
import { groupOfOtherProfile, profileHint, type Vendor, vendorOf } from '../../../api/model/vendor.ts'
import { UsageError } from '../../../base/flags/flags.ts'
import type { Client } from '../../../client/requests/client.ts'
import { type DiscoveredType, type DiscoveredTypes, discover, typesOf } from '../../../client/requests/discovery.ts'
import { isNotFound } from '../../../client/requests/status-error.ts'
import { findType, matchType } from './find-type.ts'

/** Thrown if the server does not serve the kind of an object. */
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

  /** Clears the cached types, because new kinds may have been defined. */
  forget(): void {
    this.#versions.clear()
    this.#all = undefined
  }

  all(): Promise<DiscoveredTypes> {
    this.#all ??= discover(this.#client, { signal: this.#signal })
    return this.#all
  }

  /**
   * Returns the type that a word refers to. If a type in the core group matches, no other groups are requested, because
   * the core group takes precedence. For a word with a group and version, such as `leases.v1.coordination.orch.io`,
   * only that group version is requested.
   */
  async typeNamed(word: string): Promise<DiscoveredType> {
    const [name = '', version = '', ...group] = word.split('.')
    if (word.split('.').length === 1) {
      const matchingType = matchType(await this.#inVersion('', 'v1'), name)
      if (matchingType !== undefined) return matchingType
    } else if (/^v\d/.test(version)) {
      const matchingType = matchType(await this.#inVersion(group.join('.'), version), name)
      if (matchingType !== undefined) return matchingType
    }
    return findType(await this.all(), word)
  }

  /** Returns the types that a word refers to: a single type, or the types in a category such as `all`. */
  async namedAll(word: string): Promise<DiscoveredType[]> {
    if (word === 'all') return await this.#inCategory(word)
    try {
      return [await this.typeNamed(word)]
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

  /** Returns the type of an object by its apiVersion and kind. */
  async ofKind(apiVersion: string, kind: string): Promise<DiscoveredType> {
    const group = groupOf(apiVersion)
    const version = versionOf(apiVersion)
    const matchingType = (await this.#inVersion(group, version)).find((type) => type.kind === kind)
    if (matchingType !== undefined) return matchingType
    const vendor = await this.vendor()
    const other = groupOfOtherProfile(vendor, group)
    const isOther = other !== undefined && (await this.#inVersion(other.group, version)).length > 0
    const hint = !isOther ? 'see `orchctl api-resources`' : profileHint(vendor, other)
    throw new UnknownKindError(
      `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}: ${hint}`,
    )
  }

  /** Returns the vendor whose names the server uses: Kubernetes or orch. */
  vendor(): Promise<Vendor> {
    this.#vendor ??= this.#askVendor()
    return this.#vendor
  }

  async #askVendor(): Promise<Vendor> {
    const { groups } = await this.#client.read<{ groups: { name: string }[] }>('/apis', { signal: this.#signal })
    const { groupDomain } = vendorOf('kubernetes')
    return vendorOf(groups.some(({ name }) => name === `storage.${groupDomain}`) ? 'kubernetes' : 'orch')
  }

  /** Returns the types of one group version. The result is empty if the server does not serve the version. */
  #inVersion(group: string, version: string): Promise<DiscoveredType[]> {
    const key = `${group}/${version}`
    let pendingTypes = this.#versions.get(key)
    if (pendingTypes === undefined) {
      pendingTypes = typesOf(this.#client, { group, version }, { signal: this.#signal }).catch((error: unknown) => {
        if (isNotFound(error)) return []
        throw error
      })
      this.#versions.set(key, pendingTypes)
    }
    return pendingTypes
  }
}
