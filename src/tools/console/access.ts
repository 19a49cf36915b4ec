/**
 * Lets an administrator sign in to the console without a token. `orch up` prints a link that works once and expires
 * after a few minutes. The link is exchanged for a session: a bearer token that is valid for some hours. Nothing is
 * stored, so links and sessions end with the process. All workers share the secret and a flag that records whether the
 * link has been used.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { superusers, type User } from '../../api/model/user.ts'
import { type AuthenticationOutcome, type Authenticator, none, refused } from '../../apiserver/authn/authenticator.ts'
import { bearerToken } from '../../apiserver/authn/bearer.ts'
import type { Clock } from '../../base/time/clock.ts'

const minute = 60_000
const linkMs = 10 * minute
const sessionMs = 8 * 60 * minute
const tokenPrefix = 'orch-console.'

/** The sign-in secrets that all workers of a process share. Can be posted to another thread. */
export interface ConsoleSecrets {
  readonly key: Uint8Array
  /** Expiry time of the link, in milliseconds since 1970. */
  readonly linkExpires: number
  /** Shared memory, set to 1 once the link has been used. */
  readonly linkUsed: Int32Array
}

/** Creates the sign-in secrets of this process. */
export function newConsoleSecrets(clock: Clock): ConsoleSecrets {
  const linkUsed = new Int32Array(new SharedArrayBuffer(4))
  return { key: randomBytes(32), linkExpires: clock.now() + linkMs, linkUsed }
}

/** The user of sessions that began with a link. It is the same user as in the administrator's kubeconfig. */
const administrator: User = {
  name: 'orch-admin',
  uid: '',
  groups: [superusers],
  extra: new Map([['console', ['one-time link']]]),
}

export interface ConsoleSession {
  readonly token: string
  /** Expiry time of the session, in milliseconds since 1970. */
  readonly expires: number
}

/** Checks sign-in links and session tokens. */
export class ConsoleAccess {
  readonly #secrets: ConsoleSecrets
  readonly #clock: Clock

  constructor(secrets: ConsoleSecrets, clock: Clock) {
    this.#secrets = secrets
    this.#clock = clock
  }

  /** Returns the secret for the sign-in link. It is derived from the key, so it is the same in all workers. */
  get link(): string {
    return this.#mac(`link ${this.#secrets.linkExpires}`)
  }

  /**
   * Returns a session in exchange for the secret in the link, or undefined if the secret is wrong, already used or
   * expired.
   */
  exchange(link: string): ConsoleSession | undefined {
    const { linkExpires, linkUsed } = this.#secrets
    if (!isEqual(link, this.link) || this.#clock.now() >= linkExpires) return undefined
    if (Atomics.compareExchange(linkUsed, 0, 0, 1) !== 0) return undefined
    const expires = this.#clock.now() + sessionMs
    return { token: `${tokenPrefix}${expires}.${this.#mac(`session ${expires}`)}`, expires }
  }

  /** Authenticates requests that carry a console session token. All other requests are left to other authenticators. */
  readonly authenticate: Authenticator = ({ authorization }) => {
    // Check for the token prefix first, because most requests carry no session token.
    if (authorization === undefined || !authorization.includes(tokenPrefix)) return none
    const [, expires, mac] = /^orch-console\.(\d{1,16})\.([\w-]+)$/.exec(bearerToken(authorization) ?? '') ?? []
    if (expires === undefined || mac === undefined) return none
    if (!isEqual(mac, this.#mac(`session ${expires}`))) return refused
    return Number(expires) > this.#clock.now() ? administratorOutcome : refused
  }

  #mac(text: string): string {
    return createHmac('sha256', this.#secrets.key).update(text).digest('base64url')
  }
}

const administratorOutcome: AuthenticationOutcome = { result: 'user', user: administrator }

function isEqual(one: string, other: string): boolean {
  const a = Buffer.from(one)
  const b = Buffer.from(other)
  return a.length === b.length && timingSafeEqual(a, b)
}
