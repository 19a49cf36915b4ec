/**
 * Verifies the signatures of this cluster's tokens. Each signature is verified once. After that, a bounded LRU cache
 * recognizes the token by its hash. The cache contains the claims but not the token. Times and dependencies can change,
 * so they are checked elsewhere.
 *
 * The signature algorithm depends on the key. Keys in a token are ignored.
 */
import { hash } from 'node:crypto'
import { parseJson } from '../../../api/codec/json.ts'
import { isObject, type JsonObject } from '../../../api/json/json.ts'
import { parseNative } from '../../../api/json/native-json.ts'
import { legacyTokenIssuer, type Vendor } from '../../../api/model/vendor.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { readClaims, type TokenClaims } from './claims.ts'
import type { VerifyingKey } from './keys.ts'

export interface SignedToken {
  readonly hash: string
  readonly claims: TokenClaims
}

export interface SignatureOptions {
  readonly vendor: Vendor
  readonly keys: readonly VerifyingKey[]
  /**
   * Issuers of bound tokens. The first issuer signs new tokens. The others are former issuers whose tokens are still
   * accepted.
   */
  readonly issuers: readonly string[]
}

/** Maximum number of cached tokens. */
const maxCachedTokens = 4096

/** Verifies tokens and caches the results by hash. */
export class Signatures {
  readonly #vendor: Vendor
  readonly #keys: readonly VerifyingKey[]
  readonly #issuers: ReadonlySet<string>
  /** Verification results by token hash, most recently used last. */
  readonly #verifiedTokens = new BoundedMap<string, SignedToken>(maxCachedTokens)

  constructor({ vendor, keys, issuers }: SignatureOptions) {
    this.#vendor = vendor
    this.#keys = keys
    this.#issuers = new Set([...issuers, legacyTokenIssuer(vendor)])
  }

  /**
   * Verifies a token. Returns 'foreign' if the token belongs to another issuer, and undefined if it claims this issuer
   * but is invalid.
   */
  verify(token: string): SignedToken | 'foreign' | Promise<SignedToken | undefined> {
    const key = hash('sha256', token, 'base64')
    const verifiedTokens = this.#verifiedTokens.use(key)
    if (verifiedTokens !== undefined) return verifiedTokens
    const header = this.#ownHeader(token)
    return header === undefined ? 'foreign' : this.#verifyAnew(token, key, header)
  }

  /** Returns the header of a token if the token names this issuer. Nothing has been verified yet. */
  #ownHeader(token: string): JsonObject | undefined {
    const parts = token.split('.', 4)
    if (parts.length !== 3) return undefined
    const payload = readPart(parts[1]!)
    if (typeof payload?.iss !== 'string' || !this.#issuers.has(payload.iss)) return undefined
    return readPart(parts[0]!)
  }

  async #verifyAnew(token: string, key: string, header: JsonObject): Promise<SignedToken | undefined> {
    if (!isCanonical(token)) return undefined
    const { compactVerify } = await import('jose')
    const { kid, alg } = header
    for (const { id, algorithm, publicKey } of this.#keys) {
      if (algorithm !== alg || (kid !== undefined && kid !== id)) continue
      const verified = await compactVerify(token, publicKey, { algorithms: [algorithm] }).catch(() => undefined)
      const claims = verified && this.#claimsOf(verified.payload)
      if (claims === undefined) continue
      const signed = { hash: key, claims }
      this.#verifiedTokens.set(key, signed)
      return signed
    }
    return undefined
  }

  /** Parse strictly, because JSON parsers disagree about duplicate members. */
  #claimsOf(bytes: Uint8Array): TokenClaims | undefined {
    try {
      const { value, duplicates } = parseJson(Buffer.from(bytes))
      return isObject(value) && duplicates.length === 0 ? readClaims(this.#vendor, value) : undefined
    } catch {
      return undefined
    }
  }
}

/**
 * Whether each part of the token has its canonical encoding. Variants of one token could otherwise have different
 * hashes.
 */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)
}

function readPart(part: string): JsonObject | undefined {
  try {
    const value = parseNative(Buffer.from(part, 'base64url').toString())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
