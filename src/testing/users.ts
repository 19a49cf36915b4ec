/** The users of a test server, made when a test names them. They are known by tokens that are drawn at random. */
import { randomBytes } from 'node:crypto'
import type { User } from '../api/model/user.ts'
import type { Authenticator } from '../apiserver/authn/authenticator.ts'
import { staticTokens, tokenHash } from '../apiserver/authn/static-tokens.ts'
import type { UserOptions } from './test-server.ts'

/** Users by their tokens. */
export class Users {
  readonly #tokens: Map<string, User>
  /** Knows the users that there are at that moment. */
  readonly authenticator: Authenticator

  /** Those of another server are known here too, such as the one that this is a fork of. */
  constructor(known: Users | undefined) {
    this.#tokens = new Map(known === undefined ? [] : known.#tokens)
    this.authenticator = staticTokens(() => this.#tokens)
  }

  /** The same name may be given several times: each is the same user to the server, with the groups given there. */
  add(name: string, { groups = [], uid = '', extra = {} }: UserOptions): { user: User; token: string } {
    if (name === '') throw new TypeError('a user needs a name')
    const user: User = { name, uid, groups: [...groups], extra: new Map(Object.entries(extra)) }
    const token = randomBytes(24).toString('base64url')
    this.#tokens.set(tokenHash(token), user)
    return { user, token }
  }
}
