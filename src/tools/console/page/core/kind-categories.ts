/**
 * Assigns kinds to categories in the sidebar. Built-in kinds are grouped by purpose rather than by API group, because
 * users look for a Deployment under workloads. All other kinds are custom resources or belong to the cluster itself.
 */
import { type Category, categories, plurals } from './categorized-kinds.ts'
import type { Type } from './kinds.ts'

const placeByPlural = new Map<string, { readonly category: Category; readonly rank: number }>(
  Object.entries(plurals).flatMap(([category, members]) =>
    members.map((plural, rank) => [plural, { category: category as Category, rank }] as const),
  ),
)

const builtInGroups = new Set(['', 'apps', 'batch', 'autoscaling', 'policy', 'extensions'])

/** Returns the listable types by category. `domain` is the vendor's domain, such as `orch.io`. */
export function byCategory(types: readonly Type[], domain: string): Map<Category, Type[]> {
  const listable = types.filter(({ verbs }) => verbs.includes('list'))
  const groups = Map.groupBy(listable, (type) => categoryOf(type, domain))
  const sorted = categories.flatMap((category) => {
    const members = groups.get(category)
    return members === undefined ? [] : [[category, members.sort(compareTypes)] as const]
  })
  return new Map(sorted)
}

function categoryOf(type: Type, domain: string): Category {
  const isBuiltIn = builtInGroups.has(type.group) || (domain !== '' && type.group.endsWith(`.${domain}`))
  if (!isBuiltIn) return 'Custom'
  return placeOf(type)?.category ?? 'Cluster'
}

function compareTypes(a: Type, b: Type): number {
  return rankOf(a) - rankOf(b) || (a.kind < b.kind ? -1 : 1)
}

function rankOf(type: Type): number {
  return placeOf(type)?.rank ?? Number.MAX_SAFE_INTEGER
}

/**
 * The kinds in the metrics API have the same plural names as the kinds that they measure, so plural names alone are
 * ambiguous.
 */
function placeOf({ group, plural }: Type) {
  return group.startsWith('metrics.') ? undefined : placeByPlural.get(plural)
}
