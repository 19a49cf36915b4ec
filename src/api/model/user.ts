/** The user of a request. Only authorizers interpret its name and groups. */
import { shorten } from '../../base/text/shorten.ts'
import { checkDnsLabel, checkDnsSubdomain } from './names.ts'

/** The user of a request: name, groups and extra data. May be the anonymous user. */
export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

const maxShown = 256

/**
 * Returns the user name for messages. The name is shortened because some identity providers do not limit its length.
 */
export function shownName({ name }: Pick<User, 'name'>): string {
  return shorten(name, maxShown)
}

/** The group whose members have all permissions. */
export const superusers = 'system:masters'
/** The group of all users with valid credentials. */
export const authenticatedUsers = 'system:authenticated'
/** The group of users without credentials. */
export const unauthenticatedUsers = 'system:unauthenticated'
/** The user of a request without credentials. */
export const anonymousName = 'system:anonymous'
const serviceAccounts = 'system:serviceaccounts'

const accountPrefix = 'system:serviceaccount:'

/** Returns the user name of a service account. */
export function serviceAccountName(namespace: string, name: string): string {
  return `${accountPrefix}${namespace}:${name}`
}

/** Returns the group of all service accounts and the group of the service accounts in the namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return [serviceAccounts, `${serviceAccounts}:${namespace}`]
}

/**
 * Returns the namespace and name of the service account with the given user name, or undefined if the user is not a
 * service account.
 */
export function readServiceAccount(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(accountPrefix)) return undefined
  const [namespace = '', name = '', ...more] = user.slice(accountPrefix.length).split(':')
  const sound = more.length === 0 && checkDnsLabel(namespace).length === 0 && checkDnsSubdomain(name).length === 0
  return sound ? { namespace, name } : undefined
}

/** Adds the group `system:authenticated`, to which every authenticated user belongs. */
export function authenticated(user: User): User {
  if (user.groups.includes(authenticatedUsers)) return user
  return { ...user, groups: [...user.groups, authenticatedUsers] }
}

/** The group of node agents. The user name of a node agent is `system:node:<name>`. */
export const nodesGroup = 'system:nodes'
/**
 * The user name of the API server when it connects to node agents. API servers reject requests from this user, because
 * a node's address could point to an API server, which would then receive requests with this certificate.
 */
export const nodeClientName = 'system:apiserver-node-client'
/** The user name prefix of node agents. */
export const nodeUserPrefix = 'system:node:'
