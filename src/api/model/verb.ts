/** What can be asked of a resource: the words that authorization rules, discovery and the kinds use. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/** What a kind can do that says nothing else, in the order in which discovery lists it. */
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

/** All verbs but these. */
export function verbsWithout(...left: readonly Verb[]): readonly Verb[] {
  return allVerbs.filter((verb) => !left.includes(verb))
}
