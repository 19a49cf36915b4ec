/**
 * Finds a type by its plural, kind, singular or short name, ignoring case. The name can be followed by the group
 * (`leases.coordination.orch.io`, `leases.v1.coordination.orch.io`) or a prefix of the group (`leases.coord`). If
 * several types match, the first in discovery order is used. The core group comes first.
 */
import { closestMatch, maxTypos, UsageError } from '../../../base/flags/flags.ts'
import type { DiscoveredType, DiscoveredTypes } from '../../../client/requests/discovery.ts'

/**
 * Returns the type that a word refers to by its plural, kind or short name, with or without a group. Throws UsageError
 * if there is no such type.
 */
export function findType({ types, failures }: DiscoveredTypes, word: string): DiscoveredType {
  const dot = word.indexOf('.')
  const name = dot < 0 ? word : word.slice(0, dot)
  const place = dot < 0 ? undefined : word.slice(dot + 1)
  const matchingType = place === undefined ? matchType(types, name) : matchInGroup(types, name, place)
  if (matchingType !== undefined) return matchingType
  const unknown = failures.map((failure) => `; cannot query ${failure}`).join('')
  const group = place === undefined ? '' : ` in group ${JSON.stringify(place)}`
  throw new UsageError(
    `the server doesn't have a resource type ${JSON.stringify(name)}${group}${hint(types, name)}${unknown}`,
  )
}

/** Returns the first type with this plural, kind, singular or short name. */
export function matchType(types: readonly DiscoveredType[], name: string): DiscoveredType | undefined {
  // The singular name of some types is ''. An empty name must not match these types.
  if (name === '') return undefined
  const word = name.toLowerCase()
  return waysToName.map((fits) => types.find((type) => fits(type, word))).find((type) => type !== undefined)
}

const waysToName: readonly ((type: DiscoveredType, name: string) => boolean)[] = [
  ({ plural }, name) => plural === name,
  ({ kind, singular }, name) => kind.toLowerCase() === name || singular === name,
  ({ shortNames }, name) => shortNames.includes(name),
]

/** Matches the group by prefix, unless a group has exactly that name. */
function matchInGroup(types: readonly DiscoveredType[], name: string, place: string): DiscoveredType | undefined {
  const inGroup = types.filter((type) => isIn(type, place))
  const inLonger = types.filter(({ group }) => place !== '' && group.startsWith(place))
  return matchType(inGroup, name) ?? matchType(inLonger, name)
}

function isIn({ group, version }: DiscoveredType, place: string): boolean {
  return place === group || place === `${version}.${group}`
}

/**
 * Suggests the type with this name in another group, or a type with a similar name. A name is similar to a short word
 * if it differs by one typo, and to a long word if it differs by at most two typos.
 */
function hint(types: readonly DiscoveredType[], word: string): string {
  const matchingElsewhere = matchType(types, word)
  if (matchingElsewhere !== undefined) {
    const { plural, group } = matchingElsewhere
    return `; did you mean ${JSON.stringify(group === '' ? plural : `${plural}.${group}`)}?`
  }
  const names = types.flatMap(({ plural, kind }) => [plural, kind.toLowerCase()])
  const near = closestMatch(word.toLowerCase(), names, maxTypos(word))
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`
}

/** Returns the type name for a single object, for example `configmap` or `lease.coordination.orch.io`. */
export function singularName({ kind, group }: Pick<DiscoveredType, 'kind' | 'group'>): string {
  return (group === '' ? kind : `${kind}.${group}`).toLowerCase()
}
