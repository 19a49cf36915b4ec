/** Extracts the rejected action from the message of a 403 response. */

/**
 * The action that a server did not allow. The action is on a resource, or on a path if `path` is set. Members that are
 * unknown are empty.
 */
export interface RefusedAction {
  readonly user: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
}

const refusal =
  /User "([^"]+)" cannot ([a-z]+) (?:resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?|path "([^"]+)")/
const namedPattern = /^\S+ "([^"]+)" is forbidden/

/** Returns the rejected action, or undefined for other messages, such as messages of admission plugins. */
export function refusedAction(message: string): RefusedAction | undefined {
  const refusalMatch = refusal.exec(message)
  if (refusalMatch === null) return undefined
  const [, user = '', verb = '', resources = '', group = '', namespace = '', path = ''] = refusalMatch
  const [resource = '', subresource = ''] = resources.split('/')
  return { user, verb, group, resource, subresource, namespace, path, name: namedPattern.exec(message)?.[1] ?? '' }
}
