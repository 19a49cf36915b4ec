/**
 * Bootstrap tokens, which new nodes use to join the cluster: `<id>.<secret>`, stored as the Secret
 * `bootstrap-token-<id>` in the system namespace. For every request, the latest state of the Secret is read, so changes
 * take effect immediately.
 *
 * All failures have the same response and timing: every rule is checked, and a token without a Secret is compared with
 * a dummy. Only the format, which is not secret, is checked first.
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
  tokenNodeExtra,
  tokenNodeName,
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
  /** Namespace of the Secrets with bootstrap tokens. */
  readonly namespace: string
}

interface Token {
  readonly id: string
  readonly secret: string
}

/** Authenticates with bootstrap tokens stored as Secrets. */
export function bootstrapTokens({ vendor, lookup, clock, namespace }: BootstrapTokenParts): Authenticator {
  const type = bootstrapTokenType(vendor)
  const judge = (token: Token, object: ApiObject = nobodys): AuthenticationOutcome => {
    const user = userOf(vendor, token, object)
    return isGood(object, token, { type, now: clock.now() }) && user !== undefined ? { result: 'user', user } : refused
  }
  return ({ authorization }) => {
    const [, id, secret] = tokenForm.exec(bearerToken(authorization) ?? '') ?? []
    if (id === undefined || secret === undefined) return none
    const token = { id, secret }
    const name = { namespace, name: tokenSecretName(id) }
    const storedSecret = lookup.getLatest(secrets, name)
    return storedSecret instanceof Promise
      ? storedSecret.then((later) => judge(token, later?.object))
      : judge(token, storedSecret?.object)
  }
}

/**
 * A fake Secret that is compared with tokens whose Secret does not exist, so that the comparison takes the same time.
 * No token matches the fake Secret.
 */
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

/** Compares two texts in constant time. */
function sameText(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'))
}

/**
 * Returns the user that a token authenticates. Returns undefined if its Secret lists a group that bootstrap tokens
 * cannot have.
 */
function userOf(vendor: Vendor, { id }: Token, object: ApiObject): User | undefined {
  const read = readerOf(object)
  const extraGroups = read('auth-extra-groups')
  const groups = extraGroups === '' ? [] : extraGroups.split(',')
  const node = read(tokenNodeName)
  if (!groups.every((group) => tokenGroupForm.test(group))) return undefined
  return {
    name: `system:bootstrap:${id}`,
    uid: '',
    groups: [...new Set([allTokensGroup, ...groups])].sort(),
    extra: new Map(node === '' ? [] : [[tokenNodeExtra(vendor), [node]]]),
  }
}
