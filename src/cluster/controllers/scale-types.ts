/**
 * Looks up resource types by apiVersion and kind, as in owner references and scale targets. Results are cached for one
 * minute.
 */

import { groupOf, versionOf } from '../../api/model/api-version.ts'
import { type Answer, TtlCache } from '../../base/collections/ttl-cache.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Client } from '../../client/requests/client.ts'
import { typesOf } from '../../client/requests/discovery.ts'
import type { ResourceType } from '../../client/requests/resource-type.ts'
import { ignoreNotFound } from './ignore-not-found.ts'

const keptMs = 60_000

/** A reference to a kind by apiVersion and kind, as in an owner reference. */
export interface KindReference {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
}

export class ScaleTypes {
  readonly #client: Client
  readonly #types: TtlCache<readonly ResourceType[]>

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#types = new TtlCache(clock)
  }

  /** Returns the type of this kind, or undefined if the server does not serve the kind. */
  async typeOf({ apiVersion = '', kind = '' }: KindReference, signal: AbortSignal): Promise<ResourceType | undefined> {
    const types = await this.#types.get(apiVersion, () => this.#find(apiVersion, signal))
    return types.find((type) => type.kind === kind)
  }

  async #find(apiVersion: string, signal: AbortSignal): Promise<Answer<readonly ResourceType[]>> {
    const place = { group: groupOf(apiVersion), version: versionOf(apiVersion) }
    const types = await ignoreNotFound(typesOf(this.#client, place, { signal }))
    return { value: types ?? [], ttlMs: keptMs }
  }
}
