/**
 * Bootstrap tokens, with which a new node makes itself known: `<id>.<secret>`, kept as the Secret
 * `bootstrap-token-<id>` in the system namespace. They are good for as long as that Secret says, and not a moment longer:
 * it is read in its most recent state on every request.
 *
 * Whatever is wrong, the answer is the same and takes the same time: every rule is looked at, and a token of which there
 * is no Secret is judged by one that fits nobody. The form alone is decided before; it is no secret.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../api/kinds/core/secret.ts'
import { secret as secrets } from '../../api/kinds/core/secret.ts'
import {
  allTokensGroup,
  bootstrapTokenType,
  tokenEnd,
  tokenForm,
  tokenGroupForm,
  tokenSecretName,
} from '../../api/model/bootstrap-token.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { User } from '../../api/model/user.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type AuthenticationOutcome, type Authenticator, none, refused } from './authenticator.ts'
import { bearerToken } from './bearer.ts'

export interface BootstrapTokenParts {
  readonly vendor: Vendor
  readonly lookup: Pick<Lookup, 'getLatest'>
  readonly clock: Clock
  /** Where the Secrets are. */
  readonly namespace: string
}

interface Token {
  readonly id: string
  readonly secret: string
}

/** Authenticates by the bootstrap tokens that are kept as Secrets. */
export function bootstrapTokens({ vendor, lookup, clock, namespace }: BootstrapTokenParts): Authenticator {
  const type = bootstrapTokenType(vendor)
  const judge = (token: Token, object: ApiObject = nobodys): AuthenticationOutcome => {
    const user = userOf(token, object)
    return isGood(object, token, { type, now: clock.now() }) && user !== undefined ? { result: 'user', user } : refused
  }
  return ({ authorization }) => {
    const [, id, secret] = tokenForm.exec(bearerToken(authorization) ?? '') ?? []
    if (id === undefined || secret === undefined) return none
    const token = { id, secret }
    const name = { namespace, name: tokenSecretName(id) }
    const found = lookup.getLatest(secrets, name)
    return found instanceof Promise ? found.then((later) => judge(token, later?.object)) : judge(token, found?.object)
  }
}

/** As long as a good one in everything that is read, but no token has such an id or secret. */
const nobodys: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-nobody' },
  type: '',
  data: {
    'token-id': base64('------'),
    'token-secret': base64('----------------'),
    'usage-bootstrap-authentication': base64('true'),
  },
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function isGood(object: Secret, { id, secret }: Token, { type, now }: { type: string; now: number }): boolean {
  const read = readerOf(object)
  const rules = [
    sameText(read('token-secret'), secret),
    sameText(read('token-id'), id),
    object.type === type,
    read('usage-bootstrap-authentication') === 'true',
    now < tokenEnd(read('expiration')),
    object.metadata.deletionTimestamp === undefined,
  ]
  return !rules.includes(false)
}

function readerOf({ data = {} }: Secret): (key: string) => string {
  return (key) => Buffer.from(data[key] ?? '', 'base64').toString()
}

/** In a time that does not tell how much of it is the same. */
function sameText(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

/** Undefined where it asks for a group that no such token may have. */
function userOf({ id }: Token, object: ApiObject): User | undefined {
  const extra = readerOf(object)('auth-extra-groups')
  const groups = extra === '' ? [] : extra.split(',')
  if (!groups.every((group) => tokenGroupForm.test(group))) return undefined
  return {
    name: `system:bootstrap:${id}`,
    uid: '',
    groups: [...new Set([allTokensGroup, ...groups])].sort(),
    extra: new Map(),
  }
}
