/**
 * Static tokens from a file. Each line is `token,user,uid,"group1,group2"`, where the uid may be empty. The tokens
 * never expire. Only their hashes are stored and looked up, so that no comparison reveals which part of a guess was
 * correct.
 *
 * If the file changes while the server runs, removed tokens become invalid immediately, and added tokens become valid
 * after a restart. See `stillGranted`.
 */
import { hash as digest } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { User } from '../../api/model/user.ts'
import { type AuthenticationOutcome, type Authenticator, none, refused } from './authenticator.ts'
import { bearerToken } from './bearer.ts'

/** Users by the hash of their token. See `readTokens`. */
export type TokenUsers = ReadonlyMap<string, User>

/** Authenticates with static tokens. `current` returns the valid tokens, as a new map after each change to the file. */
export function staticTokens(current: () => TokenUsers): Authenticator {
  const outcomesByConnection = new WeakMap<object, CachedOutcome>()
  return ({ authorization, connection }) => {
    if (authorization === undefined) return none
    const users = current()
    // This connection has already sent the same Authorization header, so reuse the outcome.
    const before = outcomesByConnection.get(connection)
    if (before?.authorization === authorization && before.users === users) return before.outcome
    const token = bearerToken(authorization)
    if (token === undefined) return none
    const user = users.get(tokenHash(token))
    if (user === undefined) return refused
    const outcome: AuthenticationOutcome = { result: 'user', user }
    outcomesByConnection.set(connection, { authorization, users, outcome })
    return outcome
  }
}

interface CachedOutcome {
  readonly authorization: string
  readonly users: TokenUsers
  readonly outcome: AuthenticationOutcome
}

/**
 * Returns the tokens that still belong to the same user in the changed file, and the number of new tokens in the file.
 */
export function stillGranted(before: TokenUsers, file: TokenUsers): { users: TokenUsers; added: number } {
  const users = new Map([...file].filter(([token, user]) => isDeepStrictEqual(before.get(token), user)))
  return { users, added: file.size - users.size }
}

/**
 * Reads a token file. Throws an Error that contains the line number but never the token. Calls `skipped` with the line
 * number of each line that contains no token.
 */
export function readTokens(csv: string, skipped: (line: number) => void): Map<string, User> {
  const users = new Map<string, User>()
  for (const [index, line] of csv.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const columns = splitCsv(line, index + 1).map((column) => column.trim())
    const [token, name, uid, groups = ''] = columns
    if (token === undefined || !name || uid === undefined)
      throw new Error(`line ${index + 1}: at least three columns are required: token, user name, user uid`)
    if (token === '') {
      skipped(index + 1)
      continue
    }
    if (users.has(tokenHash(token))) throw new Error(`line ${index + 1}: the token on this line occurs more than once`)
    const list = groups.split(',').filter((group) => group !== '')
    users.set(tokenHash(token), { name, uid, groups: list, extra: new Map() })
  }
  return users
}

function splitCsv(line: string, number: number): string[] {
  const columns: string[] = []
  let rest = line
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(,|$)/.exec(rest)
    const plain = quoted ? null : /^([^",]*)(,|$)/.exec(rest)
    const match = quoted ?? plain
    if (match === null) throw new Error(`line ${number}: a quote is not closed, or is in the middle of a column`)
    columns.push(match[1]!.replaceAll('""', '"'))
    if (match[2] === '') return columns
    rest = rest.slice(match[0].length)
  }
}

/** Returns the hash under which `TokenUsers` stores a token. */
export function tokenHash(token: string): string {
  return digest('sha256', token, 'base64')
}
