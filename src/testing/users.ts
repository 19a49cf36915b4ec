/** The users of a test server. Each user is created when a test requests it, and authenticates with a random token. */
import { randomBytes } from 'node:crypto'
import type { User } from '../api/model/user.ts'
import type { Authenticator } from '../apiserver/authn/authenticator.ts'
import { staticTokens, tokenHash } from '../apiserver/authn/static-tokens.ts'
import type { UserOptions } from './test-server.ts'

/** The users of a test server, by bearer token. */
export class Users {
  readonly #tokens: Map<string, User>
  /** Authenticates the tokens of all users that exist at the time of the request. */
  readonly authenticator: Authenticator

  /** Creates the list of users. Includes the users of another server, such as the parent of a fork. */
  constructor(parentUsers: Users | undefined) {
    this.#tokens = new Map(parentUsers === undefined ? [] : parentUsers.#tokens)
    this.authenticator = staticTokens(() => this.#tokens)
  }

  /** Adds a user. The same name may be added several times, with different groups. */
  add(name: string, { groups = [], uid = '', extra = {} }: UserOptions): { user: User; token: string } {
    if (name === '') throw new TypeError('a user must have a name')
    const user: User = { name, uid, groups: [...groups], extra: new Map(Object.entries(extra)) }
    const token = randomBytes(24).toString('base64url')
    this.#tokens.set(tokenHash(token), user)
    return { user, token }
  }
}
