/**
 * Which tokens this cluster has signed. A signature is verified once: afterwards the token is known by its hash, as one
 * of a bounded number that were used last. Nothing else of a token is kept, and what can change (times, the objects
 * that it depends on) is not decided here.
 *
 * The algorithm is that of the key; keys that a token brings along or points to do not count.
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
  /** Of bound tokens; the first signs, the others were in use before. */
  readonly issuers: readonly string[]
}

/** How many tokens are remembered. */
const maxKnown = 4096

/** Verifies tokens; a token that was verified before is known by its hash. */
export class Signatures {
  readonly #vendor: Vendor
  readonly #keys: readonly VerifyingKey[]
  readonly #issuers: ReadonlySet<string>
  /** By hash. */
  readonly #known = new BoundedMap<string, SignedToken>(maxKnown)

  constructor({ vendor, keys, issuers }: SignatureOptions) {
    this.#vendor = vendor
    this.#keys = keys
    this.#issuers = new Set([...issuers, legacyTokenIssuer(vendor)])
  }

  /** 'foreign': of another kind or of somebody else. Undefined: it says that it is ours, and is not. */
  verify(token: string): SignedToken | 'foreign' | Promise<SignedToken | undefined> {
    const key = hash('sha256', token, 'base64')
    const known = this.#known.use(key)
    if (known !== undefined) return known
    const header = this.#ownHeader(token)
    return header === undefined ? 'foreign' : this.#verifyAnew(token, key, header)
  }

  /** The header of a token that names us as its issuer, before anything of it is believed. */
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
      this.#known.set(key, signed)
      return signed
    }
    return undefined
  }

  /** Read as strictly as a body is: what occurs twice could be read in two ways. */
  #claimsOf(bytes: Uint8Array): TokenClaims | undefined {
    try {
      const { value, duplicates } = parseJson(Buffer.from(bytes))
      return isObject(value) && duplicates.length === 0 ? readClaims(this.#vendor, value) : undefined
    } catch {
      return undefined
    }
  }
}

/** Whether it is spelt in the one way there is: base64 has bits to spare, and a changed token is another token. */
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
