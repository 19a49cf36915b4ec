/** Signs service account tokens, and publishes the keys for verifying them. */
import type { JsonObject } from '../../../api/json/json.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { type BoundToken, boundClaims, type LegacyToken, legacyClaims } from './claims.ts'
import type { TokenKeys } from './keys.ts'

/** Signs service account tokens. */
export class TokenIssuer {
  /** Issuer of bound tokens. */
  readonly name: string
  readonly #vendor: Vendor
  readonly #keys: TokenKeys

  constructor(name: string, vendor: Vendor, keys: TokenKeys) {
    this.name = name
    this.#vendor = vendor
    this.#keys = keys
  }

  async issue(token: Omit<BoundToken, 'issuer'>): Promise<string> {
    return await this.#sign(boundClaims(this.#vendor, { ...token, issuer: this.name }))
  }

  /** Issues a token for a Secret. The token does not expire. */
  async issueLegacy(token: LegacyToken): Promise<string> {
    return await this.#sign(legacyClaims(this.#vendor, token))
  }

  get algorithms(): string[] {
    return [...new Set(this.#keys.verifying.map(({ algorithm }) => algorithm))]
  }

  /** Returns the public keys as a JSON Web Key Set. */
  async publicKeys(): Promise<JsonObject> {
    const { exportJWK } = await import('jose')
    const keys = this.#keys.verifying.map(async ({ id, algorithm, publicKey }) => {
      const { kty, ...rest } = await exportJWK(publicKey)
      return { use: 'sig', kty, kid: id, alg: algorithm, ...rest }
    })
    return { keys: await Promise.all(keys) }
  }

  async #sign(claims: JsonObject): Promise<string> {
    const { CompactSign } = await import('jose')
    const { id, algorithm, privateKey } = this.#keys.signing
    const payload = new TextEncoder().encode(JSON.stringify(claims))
    return await new CompactSign(payload).setProtectedHeader({ alg: algorithm, kid: id }).sign(privateKey)
  }
}
