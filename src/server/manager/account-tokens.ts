/**
 * Credentials of the service accounts under which control loops run. Creates missing accounts, and renews tokens before
 * they expire. Requests wait while a token is being fetched. If a fetch fails, the next request tries again.
 */

import { groupName, type Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import type { Client } from '../../client/requests/client.ts'
import { objectPath } from '../../client/requests/resource-type.ts'
import { StatusError } from '../../client/requests/status-error.ts'
import type { Transport } from '../../client/requests/transport.ts'

const namespace = 'kube-system'
const lifeSeconds = 3600
/** Fraction of a token's lifetime after which the token is replaced. */
const usedPart = 0.8

export interface AccountTokenParts {
  /** A client with permission to create service accounts and request tokens for them. */
  readonly client: Client
  /** A transport without credentials. Account tokens are added to its requests. */
  readonly anonymous: Transport
  readonly vendor: Vendor
  readonly clock: Clock
}

interface Held {
  readonly token: Promise<string>
  readonly freshUntil: number
}

export class AccountTokens {
  readonly #parts: AccountTokenParts
  readonly #tokens = new Map<string, Held>()

  constructor(parts: AccountTokenParts) {
    this.#parts = parts
  }

  /** Returns a transport that authenticates as this service account. */
  transport(account: string): Transport {
    return async (request) => {
      const headers = { ...request.headers, authorization: `Bearer ${await this.#token(account)}` }
      const response = await this.#parts.anonymous({ ...request, headers })
      // Discard a rejected token, because its account may have been recreated or the signing key replaced.
      if (response.status === 401) this.#tokens.delete(account)
      return response
    }
  }

  #token(account: string): Promise<string> {
    const now = this.#parts.clock.monotonic()
    const cachedToken = this.#tokens.get(account)
    if (cachedToken !== undefined && now < cachedToken.freshUntil) return cachedToken.token
    const token = this.#fetch(account)
    token.catch(() => this.#tokens.delete(account))
    this.#tokens.set(account, { token, freshUntil: now + lifeSeconds * 1000 * usedPart })
    return token
  }

  async #fetch(account: string): Promise<string> {
    const { client, vendor } = this.#parts
    const name = { namespace, name: account }
    await client
      .create(kinds.ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: name })
      .catch((error: unknown) => {
        if (!(error instanceof StatusError) || error.reason !== 'AlreadyExists') throw error
      })
    const response = await client.open({
      method: 'POST',
      path: objectPath(kinds.ServiceAccount, name, 'token'),
      body: {
        apiVersion: `${groupName(vendor, 'authentication')}/v1`,
        kind: 'TokenRequest',
        spec: { expirationSeconds: lifeSeconds },
      },
    })
    const text = await Array.fromAsync(response.body, (chunk) => Buffer.from(chunk))
    const { status } = JSON.parse(Buffer.concat(text).toString()) as { status: { token: string } }
    return status.token
  }
}
