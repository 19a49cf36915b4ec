/**
 * The keys of an OpenID Connect provider, located through its discovery document. The keys are fetched at startup, when
 * a token matches no key, and periodically. While the provider is unavailable, the last keys remain in use.
 *
 * Requests to the provider are rate-limited, because anyone can send tokens that match no key.
 */
import type { JSONWebKeySet, LocalJWKSet } from 'jose'
import { isObject, type Json, own } from '../../../api/json/json.ts'
import type { Clock } from '../../../base/time/clock.ts'

export interface ProviderParts {
  readonly issuer: string
  /** URL of the discovery document. Defaults to the well-known path below the issuer. */
  readonly discoveryUrl?: string | undefined
  readonly clock: Clock
  /** Fetches JSON from a URL of the provider. */
  readonly get: (url: string) => Promise<Json>
  readonly onFailure: (error: unknown) => void
}

/**
 * Minimum time in milliseconds between two requests to the provider. Also the interval between retries until the first
 * success.
 */
const minMs = 2_000
const retryMs = 5_000
/**
 * Maximum age of the keys in milliseconds. Older keys are fetched again even if they match, because the provider may
 * have revoked a key.
 */
const staleMs = 60 * 60 * 1000
const maxKeys = 100

/** Fetches and caches the keys of an OpenID Connect provider. */
export class OpenidProvider {
  readonly #parts: ProviderParts
  #keys: LocalJWKSet | undefined
  #lastFetchAt = Number.NEGATIVE_INFINITY
  #found = Number.NEGATIVE_INFINITY
  #pendingFetch: Promise<boolean> | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(parts: ProviderParts) {
    this.#parts = parts
  }

  /** Fetches the keys, and retries until the first success. */
  start(): void {
    void this.refresh().then((found) => {
      if (found || this.#keys !== undefined) return
      this.#retry = setTimeout(() => this.start(), retryMs).unref()
    })
  }

  close(): void {
    clearTimeout(this.#retry)
  }

  /** The current keys, or undefined if none have been fetched yet. Refreshes outdated keys in the background. */
  get keys(): LocalJWKSet | undefined {
    if (this.#parts.clock.monotonic() - this.#found > staleMs) void this.refresh()
    return this.#keys
  }

  /** Fetches the keys, unless the last attempt was very recent. Returns whether there are new keys. Never rejects. */
  refresh(): Promise<boolean> {
    if (this.#pendingFetch !== undefined) return this.#pendingFetch
    const now = this.#parts.clock.monotonic()
    if (now - this.#lastFetchAt < minMs) return Promise.resolve(false)
    this.#lastFetchAt = now
    this.#pendingFetch = this.#fetch().finally(() => {
      this.#pendingFetch = undefined
    })
    return this.#pendingFetch
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
    const { issuer, discoveryUrl, get } = this.#parts
    const document = await get(discoveryUrl ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
    if (!isObject(document) || own(document, 'issuer') !== issuer)
      throw new Error("the OpenID Connect provider's discovery document names another issuer")
    const address = own(document, 'jwks_uri')
    if (typeof address !== 'string' || !URL.canParse(address) || new URL(address).protocol !== 'https:')
      throw new Error("the OpenID Connect provider's discovery document has no https jwks_uri")
    return address
  }
}

function keysIn(document: Json): JSONWebKeySet {
  const keys = isObject(document) ? own(document, 'keys') : undefined
  if (!Array.isArray(keys) || !keys.every(isObject) || keys.length > maxKeys)
    throw new Error('the OpenID Connect provider returned no usable keys')
  return { keys } as unknown as JSONWebKeySet
}
