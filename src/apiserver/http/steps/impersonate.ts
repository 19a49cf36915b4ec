/**
 * Lets somebody act as another, where they may: `Impersonate-User`, and with it `Impersonate-Group` (any number of them),
 * `Impersonate-Uid` and `Impersonate-Extra-<key>`. Each value is a right of its own. From here on the request is the
 * other's in all but the log, which names both.
 */

import { badRequest } from '../../../api/model/api-error.ts'
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
import { headerText } from '../../../wire/http/header-text.ts'
import { decodeKey } from '../../authn/authenticating-proxy.ts'
import type { Authorizer, ResourceAttributes } from '../../authz/authorizer.ts'
import type { Step } from '../pipeline.ts'
import type { Exchange } from '../request/exchange.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { assertAllowed } from './authorize.ts'

const prefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'

/** Lets a permitted user act as another. */
export function impersonate(authorizer: Authorizer, vendor: Vendor): Step {
  return (exchange) => {
    if (!exchange.headers.hasPrefix(prefix) || exchange.headers.withPrefix(prefix).every(isUnset)) return
    const wanted = readWanted(exchange.headers)
    return actAs(exchange, wanted, { authorizer, rights: rightsNeeded(wanted, vendor) })
  }
}

/** A user or a UID without a value counts as not sent; a group or an extra without one is an impersonation that is not whole. */
function isUnset({ name, value }: { readonly name: string; readonly value: string }): boolean {
  return value === '' && (name === 'impersonate-user' || name === 'impersonate-uid')
}

/** Who somebody asks to be, as the headers say. */
interface Wanted {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

function readWanted(headers: RequestHeaders): Wanted {
  const name = textOf(headers.one('impersonate-user') ?? '')
  const uid = textOf(headers.one('impersonate-uid') ?? '')
  const groups = headers.all('impersonate-group').map(textOf)
  const extra = readExtra(headers)
  // A client that means to act as another must not act as itself, nor as half of the other, instead.
  if (name === '') throw badRequest('impersonation needs a user: send the header Impersonate-User as well')
  if (groups.includes('')) throw badRequest('the header Impersonate-Group has no value: name a group or leave it out')
  if (name === nodeClientName) throw badRequest(`${nodeClientName} cannot be impersonated`)
  return { name, uid, groups, extra }
}

function readExtra(headers: RequestHeaders): Map<string, string[]> {
  const extra = new Map<string, string[]>()
  for (const { name, value } of headers.withPrefix(extraPrefix)) {
    const key = decodeKey(name.slice(extraPrefix.length).toLowerCase())
    const text = textOf(value)
    if (key === '' || text === '') throw badRequest('a header Impersonate-Extra- needs a key and a value')
    extra.set(key, [...(extra.get(key) ?? []), text])
  }
  return extra
}

function textOf(value: string): string {
  const text = headerText(value)
  if (text === undefined) throw badRequest('the headers of an impersonation must be UTF-8')
  return text
}

/** Every part of the identity is a right of its own. */
function rightsNeeded({ name, uid, groups, extra }: Wanted, vendor: Vendor): ResourceAttributes[] {
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

interface Rights {
  readonly authorizer: Authorizer
  readonly rights: readonly ResourceAttributes[]
}

async function actAs(exchange: Exchange, wanted: Wanted, { authorizer, rights }: Rights): Promise<void> {
  const { user } = exchange
  for (const attributes of rights) await assertAllowed(authorizer, { user, attributes })
  exchange.impersonator = user
  exchange.user = userOf(wanted)
}

/** A service account is in the groups of service accounts, and everybody is either authenticated or not. */
function userOf({ name, uid, groups, extra }: Wanted): User {
  const account = readServiceAccount(name)
  const own = groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : [...groups]
  const known = name !== anonymousName
  const said = known ? [authenticatedUsers, unauthenticatedUsers] : [unauthenticatedUsers]
  if (!said.some((group) => own.includes(group))) own.push(known ? authenticatedUsers : unauthenticatedUsers)
  return { name, uid, groups: own, extra }
}
