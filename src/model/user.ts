/** Who makes a request. Opaque until an authorizer reads it. */
export interface User {
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
  readonly extra: ReadonlyMap<string, readonly string[]>
}

export const superusers = 'system:masters'
export const authenticatedUsers = 'system:authenticated'

/** Every authenticated user is a member of `system:authenticated` as well. */
export function authenticated(user: User): User {
  if (user.groups.includes(authenticatedUsers)) return user
  return { ...user, groups: [...user.groups, authenticatedUsers] }
}
