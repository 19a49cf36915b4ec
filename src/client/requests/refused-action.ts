/** What a refusal for want of rights was about, read from the sentence that the server words it in. */

/** Either a resource or, with `path`, a path that is no resource. Empty where the sentence says nothing of it. */
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

/** The action; undefined for sentences of other refusals, such as those of admission. */
export function refusedAction(message: string): RefusedAction | undefined {
  const found = refusal.exec(message)
  if (found === null) return undefined
  const [, user = '', verb = '', resources = '', group = '', namespace = '', path = ''] = found
  const [resource = '', subresource = ''] = resources.split('/')
  return { user, verb, group, resource, subresource, namespace, path, name: named.exec(message)?.[1] ?? '' }
}
