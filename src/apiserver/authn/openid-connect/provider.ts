/**
 * The keys of an OpenID Connect provider, found by its discovery document. They are fetched at the start, when a token
 * comes that none of them fits, and now and then; what was found last counts for as long as the provider is away.
 *
 * Anybody can send tokens that no key fits, so the provider is asked once in a while at most.
 */
import type { JSONWebKeySet, LocalJWKSet } from 'jose'
import { isObject, type Json, own } from '../../../api/json/json.ts'
import type { Clock } from '../../../base/time/clock.ts'

export interface ProviderParts {
  readonly issuer: string
  readonly clock: Clock
  /** Gets JSON from this address. */
  readonly get: (url: string) => Promise<Json>
  readonly onFailure: (error: unknown) => void
}

/** The least time between two questions, and how soon a provider is asked again that was never found. */
const minMs = 2_000
const retryMs = 5_000
/** After so long keys are fetched again even where they fit: one may have been withdrawn. */
const staleMs = 60 * 60 * 1000
const maxKeys = 100

/** The provider's keys, fetched when they are needed. */
export class OpenidProvider {
  readonly #parts: ProviderParts
  #keys: LocalJWKSet | undefined
  #asked = Number.NEGATIVE_INFINITY
  #found = Number.NEGATIVE_INFINITY
  #asking: Promise<boolean> | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(parts: ProviderParts) {
    this.#parts = parts
  }

  /** Begins to look for the keys, and goes on until they are found. */
  start(): void {
    void this.refresh().then((found) => {
      if (found || this.#keys !== undefined) return
      this.#retry = setTimeout(() => this.start(), retryMs).unref()
    })
  }

  close(): void {
    clearTimeout(this.#retry)
  }

  /** Undefined while none were found. */
  get keys(): LocalJWKSet | undefined {
    if (this.#parts.clock.monotonic() - this.#found > staleMs) void this.refresh()
    return this.#keys
  }

  /** Whether the keys were fetched anew. Never rejects. */
  refresh(): Promise<boolean> {
    if (this.#asking !== undefined) return this.#asking
    const now = this.#parts.clock.monotonic()
    if (now - this.#asked < minMs) return Promise.resolve(false)
    this.#asked = now
    this.#asking = this.#fetch().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  async #fetch(): Promise<boolean> {
    try {
      const keys = keysIn(await this.#parts.get(await this.#keysAddress()))
      const { createLocalJWKSet } = await import('jose')
      this.#keys = createLocalJWKSet(keys)
      this.#found = this.#parts.clock.monotonic()
      return true
    } catch (error) {
      this.#parts.onFailure(error)
      return false
    }
  }

  async #keysAddress(): Promise<string> {
    const { issuer, get } = this.#parts
    const document = await get(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    if (!isObject(document) || own(document, 'issuer') !== issuer)
      throw new Error('the discovery document of the OpenID Connect provider names another issuer')
    const address = own(document, 'jwks_uri')
    if (typeof address !== 'string' || !URL.canParse(address) || new URL(address).protocol !== 'https:')
      throw new Error('the discovery document of the OpenID Connect provider has no jwks_uri with https')
    return address
  }
}

function keysIn(document: Json): JSONWebKeySet {
  const keys = isObject(document) ? own(document, 'keys') : undefined
  if (!Array.isArray(keys) || !keys.every(isObject) || keys.length > maxKeys)
    throw new Error('the OpenID Connect provider gave no keys that can be read')
  return { keys } as unknown as JSONWebKeySet
}
