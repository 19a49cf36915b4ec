/**
 * Impersonation: permitted users act as another user with `Impersonate-User`, optionally with `Impersonate-Group`
 * (repeatable), `Impersonate-Uid` and `Impersonate-Extra-<key>`. Each value is authorized separately. Since Kubernetes
 * 1.36, the permission may be limited to certain actions (`constrained-impersonation.ts`). After this step, the request
 * runs as the impersonated user. Only the log names both users.
 */

import { ApiError, badRequest } from '../../../api/model/api-error.ts'
import {
  anonymousName,
  authenticatedUsers,
  nodeClientName,
  readServiceAccount,
  serviceAccountGroups,
  type User,
  unauthenticatedUsers,
} from '../../../api/model/user.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { Gates } from '../../../api/versions/feature-gates.ts'
import { BoundedMap } from '../../../base/collections/bounded-map.ts'
import { headerText } from '../../../wire/http/header-text.ts'
import { decodeKey } from '../../authn/authenticating-proxy.ts'
import type { Authorizer, ResourceAttributes } from '../../authz/authorizer.ts'
import type { Step } from '../pipeline.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { assertAllowed, requestAttributes } from './authorize.ts'
import { type Alternative, constrainedAlternatives, type RequestedIdentity } from './constrained-impersonation.ts'

const prefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'

/** Lets permitted users act as another user. */
export function impersonate(authorizer: Authorizer, vendor: Vendor, gates: Gates): Step {
  const modes = new ImpersonationModes(authorizer)
  return (exchange) => {
    if (!exchange.headers.hasPrefix(prefix) || exchange.headers.withPrefix(prefix).every(isUnset)) return
    const identity = readRequestedIdentity(exchange.headers)
    const asked = { requester: exchange.user, target: requestAttributes(exchange.info), vendor }
    const constrained = gates.has('ConstrainedImpersonation') ? constrainedAlternatives(identity, asked) : []
    const legacy = { mode: 'legacy', permissions: rightsNeeded(identity, vendor) }
    return modes.assertOneAllowed(exchange.user, [...constrained, legacy]).then(() => {
      exchange.impersonator = exchange.user
      exchange.user = userOf(identity)
    })
  }
}

/**
 * Whether an empty header is treated as missing. True for the user and the UID. An empty group or extra value is an
 * error instead.
 */
function isUnset({ name, value }: { readonly name: string; readonly value: string }): boolean {
  return value === '' && (name === 'impersonate-user' || name === 'impersonate-uid')
}

function readRequestedIdentity(headers: RequestHeaders): RequestedIdentity {
  const name = decodeHeader(headers.one('impersonate-user') ?? '')
  const uid = decodeHeader(headers.one('impersonate-uid') ?? '')
  const groups = headers.all('impersonate-group').map(decodeHeader)
  const extra = readExtra(headers)
  // Reject incomplete headers. Otherwise, the client would act as itself, or with only part of the intended identity.
  if (name === '') throw badRequest('impersonation requires a user: also send the header Impersonate-User')
  if (groups.includes('')) throw badRequest('the header Impersonate-Group is empty: specify a group or omit the header')
  if (name === nodeClientName) throw badRequest(`${nodeClientName} cannot be impersonated`)
  return { name, uid, groups, extra }
}

function readExtra(headers: RequestHeaders): Map<string, string[]> {
  const extra = new Map<string, string[]>()
  for (const { name, value } of headers.withPrefix(extraPrefix)) {
    const key = decodeKey(name.slice(extraPrefix.length).toLowerCase())
    const text = decodeHeader(value)
    if (key === '' || text === '') throw badRequest('an Impersonate-Extra- header requires a key and a value')
    extra.set(key, [...(extra.get(key) ?? []), text])
  }
  return extra
}

function decodeHeader(value: string): string {
  const text = headerText(value)
  if (text === undefined) throw badRequest('impersonation headers must be UTF-8')
  return text
}

/** Returns the permissions needed to impersonate an identity, one for each part of it. */
function rightsNeeded({ name, uid, groups, extra }: RequestedIdentity, vendor: Vendor): ResourceAttributes[] {
  const group = groupName(vendor, 'authentication')
  const right = (over: Partial<ResourceAttributes>): ResourceAttributes => ({ ...impersonation, ...over })
  const account = readServiceAccount(name)
  return [
    account === undefined ? right({ plural: 'users', name }) : right({ plural: 'serviceaccounts', ...account }),
    ...groups.map((each) => right({ plural: 'groups', name: each })),
    ...[...extra].flatMap(([key, values]) =>
      values.map((value) => right({ group, plural: 'userextras', subresource: key, name: value })),
    ),
    ...(uid === '' ? [] : [right({ group, plural: 'uids', name: uid })]),
  ]
}

const impersonation: ResourceAttributes = {
  resource: true,
  verb: 'impersonate',
  group: '',
  version: 'v1',
  plural: '',
  subresource: '',
  namespace: '',
  name: '',
}

/** Maximum number of users whose last impersonation mode is cached. */
const maxRememberedUsers = 1000

/** Checks permissions to impersonate. For each user, the mode that was last allowed is checked first. */
class ImpersonationModes {
  readonly #authorizer: Authorizer
  readonly #lastModes = new BoundedMap<string, string>(maxRememberedUsers)

  constructor(authorizer: Authorizer) {
    this.#authorizer = authorizer
  }

  /**
   * Throws a 403 unless at least one alternative is allowed in full. First checks the alternative that was last allowed
   * for the user. If all alternatives fail, throws the error of the first alternative that was checked.
   */
  async assertOneAllowed(user: User, alternatives: readonly Alternative[]): Promise<void> {
    const key = JSON.stringify([user.name, user.uid, user.groups])
    const last = this.#lastModes.use(key)
    const isFirst = ({ mode }: Alternative) => mode === last
    const inOrder = [...alternatives.filter(isFirst), ...alternatives.filter((each) => !isFirst(each))]
    let firstError: unknown
    for (const { mode, permissions } of inOrder) {
      try {
        for (const attributes of permissions) await assertAllowed(this.#authorizer, { user, attributes })
        this.#lastModes.set(key, mode)
        return
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 403)) throw error
        firstError ??= error
      }
    }
    throw firstError
  }
}

/**
 * Returns the user. A service account without requested groups gets the groups of service accounts. Every user is in
 * `system:authenticated` or `system:unauthenticated`.
 */
function userOf({ name, uid, groups, extra }: RequestedIdentity): User {
  const account = readServiceAccount(name)
  const own = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : [...groups]
  const isAuthenticated = name !== anonymousName
  const said = isAuthenticated ? [authenticatedUsers, unauthenticatedUsers] : [unauthenticatedUsers]
  if (!said.some((group) => own.includes(group))) own.push(isAuthenticated ? authenticatedUsers : unauthenticatedUsers)
  return { name, uid, groups: own, extra }
}
