/** Known authorization verbs. Custom authorizers may use other verbs. */
import { closestMatch, maxTypos } from '../../../base/flags/flags.ts'

/** Verbs that rules for resources can contain. */
export const resourceVerbs = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'proxy'],
  ...['use', 'bind', 'escalate', 'impersonate'],
]

/** Verbs that rules for non-resource paths can contain. */
export const pathVerbs = ['get', 'post', 'put', 'delete', 'patch', 'head', 'options']

/** Returns a known verb that is similar to the given verb. */
export function nearVerb(verb: string, knownVerbs: readonly string[]): string | undefined {
  return closestMatch(verb.toLowerCase(), knownVerbs, maxTypos(verb))
}
