/**
 * Constrained impersonation (`ConstrainedImpersonation`): permission to act as another user, limited to certain
 * actions. A mode of impersonation requires two permissions: `impersonate-on:<mode>:<verb>` for the target of the
 * request, and `impersonate:<mode>` for each part of the identity.
 */
import {
  nodesGroup,
  nodeUserPrefix,
  readServiceAccount,
  serviceAccountGroups,
  type User,
} from '../../../api/model/user.ts'
import { groupName, type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { PathAttributes, ResourceAttributes } from '../../authz/authorizer.ts'

/** The identity that a client requests in its headers. */
export interface RequestedIdentity {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

type Attributes = ResourceAttributes | PathAttributes

/**
 * One way to obtain permission for an impersonation: an impersonation mode and all the permissions that it requires.
 */
export interface Alternative {
  readonly mode: string
  readonly permissions: readonly Attributes[]
}

interface Mode {
  readonly name: string
  readonly rights: readonly ResourceAttributes[]
}

/** Returns the alternatives that allow an impersonation, in the order in which they are checked. */
export function constrainedAlternatives(
  identity: RequestedIdentity,
  { requester, target, vendor }: { readonly requester: User; readonly target: Attributes; readonly vendor: Vendor },
): Alternative[] {
  return modesOf(identity, requester, vendor).map(({ name, rights }) => ({
    mode: name,
    permissions: [
      { ...target, verb: `impersonate-on:${name}:${target.verb}` },
      ...rights.map((right) => ({ ...right, verb: `impersonate:${name}` })),
    ],
  }))
}

/**
 * Returns the impersonation modes for an identity. Service accounts and nodes have their own modes, which do not cover
 * additional groups or attributes.
 */
function modesOf(identity: RequestedIdentity, requester: User, vendor: Vendor): Mode[] {
  const right = rightIn(groupName(vendor, 'authentication'))
  const { name } = identity
  const account = readServiceAccount(name)
  if (account !== undefined)
    return isPlain(identity, serviceAccountGroups(account.namespace))
      ? [{ name: 'serviceaccount', rights: [right({ plural: 'serviceaccounts', ...account })] }]
      : []
  if (!name.startsWith(nodeUserPrefix)) return [{ name: 'user-info', rights: identityRights(identity, right) }]
  if (!isPlain(identity, [nodesGroup])) return []
  const node = name.slice(nodeUserPrefix.length)
  const isOwnNode = requester.extra.get(vendorKey(vendor, 'node-name', 'authentication'))?.[0] === node
  const ofRequester = readServiceAccount(requester.name) !== undefined && isOwnNode
  return [
    ...(ofRequester ? [{ name: 'associated-node', rights: [right({ plural: 'nodes', name: '*' })] }] : []),
    { name: 'arbitrary-node', rights: [right({ plural: 'nodes', name: node })] },
  ]
}

/**
 * Whether the client requests nothing beyond the name: no UID, no extra attributes, and only the groups in `ofName`.
 */
function isPlain({ uid, groups, extra }: RequestedIdentity, ofName: readonly string[]): boolean {
  return uid === '' && extra.size === 0 && groups.every((group) => ofName.includes(group))
}

type Right = (over: Partial<ResourceAttributes>) => ResourceAttributes

function rightIn(group: string): Right {
  const none = { version: 'v1', plural: '', subresource: '', namespace: '', name: '' }
  return (over) => ({ resource: true, verb: 'impersonate', group, ...none, ...over })
}

/** Returns the permissions needed for the name, UID, groups and extra attributes of an ordinary user. */
function identityRights({ name, uid, groups, extra }: RequestedIdentity, right: Right): ResourceAttributes[] {
  return [
    right({ plural: 'users', name }),
    ...groups.map((each) => right({ plural: 'groups', name: each })),
    ...[...extra].flatMap(([key, values]) =>
      values.map((value) => right({ plural: 'userextras', subresource: key, name: value })),
    ),
    ...(uid === '' ? [] : [right({ plural: 'uids', name: uid })]),
  ]
}
