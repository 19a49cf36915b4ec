/** The API verbs, as named in authorization rules and discovery. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** The verbs that a kind supports by default, in discovery order. */
export const allVerbs: readonly Verb[] = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
]

/** Returns all verbs except the given ones. */
export function verbsWithout(...excludedVerbs: readonly Verb[]): readonly Verb[] {
  return allVerbs.filter((verb) => !excludedVerbs.includes(verb))
}
