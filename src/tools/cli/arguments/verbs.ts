/** The verbs that servers know; others may be meant for somebody's own authorizer. */
import { closestMatch, maxTypos } from '../../../base/flags/flags.ts'

/** What is done with objects. */
export const resourceVerbs = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'proxy'],
  ...['use', 'bind', 'escalate', 'impersonate'],
]

/** What is done at paths that lead to no objects. */
export const pathVerbs = ['get', 'post', 'put', 'delete', 'patch', 'head', 'options']

/** A verb that is nearly the one that was written. */
export function nearVerb(verb: string, known: readonly string[]): string | undefined {
  return closestMatch(verb.toLowerCase(), known, maxTypos(verb))
}
