/** Who makes a request. Opaque until an authorizer reads it. */
import { shorten } from '../../base/text/shorten.ts'
import { checkDnsLabel, checkDnsSubdomain } from './names.ts'

/** An authenticated user, or the anonymous one. */
export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

const maxShown = 256

/** The name as messages show it: some services that know users set no bound to it. */
export function shownName({ name }: Pick<User, 'name'>): string {
  return shorten(name, maxShown)
}

/** The group that may do everything. */
export const superusers = 'system:masters'
/** The group of all users with valid credentials. */
export const authenticatedUsers = 'system:authenticated'
/** The group of users without credentials. */
export const unauthenticatedUsers = 'system:unauthenticated'
/** The user of a request without credentials. */
export const anonymousName = 'system:anonymous'
const serviceAccounts = 'system:serviceaccounts'

const accountPrefix = 'system:serviceaccount:'

/** The user that a service account is. */
export function serviceAccountName(namespace: string, name: string): string {
  return `${accountPrefix}${namespace}:${name}`
}

/** The groups of all service accounts, and of those of the namespace. */
export function serviceAccountGroups(namespace: string): string[] {
  return [serviceAccounts, `${serviceAccounts}:${namespace}`]
}

/** The service account that a user name stands for; undefined where it stands for none. */
export function readServiceAccount(user: string): { namespace: string; name: string } | undefined {
  if (!user.startsWith(accountPrefix)) return undefined
  const [namespace = '', name = '', ...more] = user.slice(accountPrefix.length).split(':')
  const sound = more.length === 0 && checkDnsLabel(namespace).length === 0 && checkDnsSubdomain(name).length === 0
  return sound ? { namespace, name } : undefined
}

/** Every authenticated user is a member of `system:authenticated` as well. */
export function authenticated(user: User): User {
  if (user.groups.includes(authenticatedUsers)) return user
  return { ...user, groups: [...user.groups, authenticatedUsers] }
}

/** The agents of nodes: the user `system:node:<name>`. */
export const nodesGroup = 'system:nodes'
/**
 * The API server as a client of node agents. No server accepts this user as a client of the API: a node's address may lead
 * to an API server.
 */
export const nodeClientName = 'system:apiserver-node-client'
/** What the user names of node agents begin with. */
export const nodeUserPrefix = 'system:node:'
