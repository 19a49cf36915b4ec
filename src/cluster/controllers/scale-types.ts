/** The types of objects that are named by apiVersion and kind alone, as owners and targets are; what was found is kept for a minute. */

import { groupOf, versionOf } from '../../api/model/api-version.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/requests/client.ts'
import { typesOf } from '../../client/requests/discovery.ts'
import type { ResourceType } from '../../client/requests/resource-type.ts'
import { unlessGone } from './unless-gone.ts'

const keptMs = 60_000
const maxKept = 1000

/** How an object names another. */
export interface KindReference {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
}

export class ScaleTypes {
  readonly #client: Client
  readonly #clock: Clock
  readonly #known = new Map<string, { readonly types: Promise<readonly ResourceType[]>; readonly until: number }>()

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** The type of this kind; undefined where the server has none. */
  async typeOf({ apiVersion = '', kind = '' }: KindReference, signal: AbortSignal): Promise<ResourceType | undefined> {
    const types = await this.#typesOf(apiVersion, signal)
    return types.find((type) => type.kind === kind)
  }

  #typesOf(apiVersion: string, signal: AbortSignal): Promise<readonly ResourceType[]> {
    const now = this.#clock.monotonic()
    const known = this.#known.get(apiVersion)
    if (known !== undefined && known.until > now) return known.types
    const place = { group: groupOf(apiVersion), version: versionOf(apiVersion) }
    const types = unlessGone(typesOf(this.#client, place, { signal })).then((found) => found ?? [])
    if (this.#known.size >= maxKept) this.#known.clear()
    this.#known.set(apiVersion, { types, until: now + keptMs })
    types.catch(() => this.#known.delete(apiVersion))
    return types
  }
}
