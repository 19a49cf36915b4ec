/** Parses the action out of the message of a 403 response. */

/** A resource, or with `path` a non-resource path. Members that the message omits are empty. */
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
const named = /^\S+ "([^"]+)" is forbidden/

/** Returns the action. Undefined for other messages, such as those of admission. */
export function refusedAction(message: string): RefusedAction | undefined {
  const found = refusal.exec(message)
  if (found === null) return undefined
  const [, user = '', verb = '', resources = '', group = '', namespace = '', path = ''] = found
  const [resource = '', subresource = ''] = resources.split('/')
  return { user, verb, group, resource, subresource, namespace, path, name: named.exec(message)?.[1] ?? '' }
}
