/**
 * Which type a user means: by its plural, its kind, its singular or a short name, in any case, alone or with its group
 * (`leases.coordination.orch.io`, `leases.v1.coordination.orch.io`). Of equal matches the first in discovery wins: the
 * core group comes first.
 */
import { UsageError } from '../base/flags.ts'
import type { DiscoveredType, DiscoveredTypes } from '../client/discovery.ts'

/** The type that a word names: its plural, kind or short name, with or without a group. Throws UsageError. */
export function findType({ types, failures }: DiscoveredTypes, word: string): DiscoveredType {
  const dot = word.indexOf('.')
  const name = (dot < 0 ? word : word.slice(0, dot)).toLowerCase()
  const candidates = dot < 0 ? types : types.filter((type) => isIn(type, word.slice(dot + 1)))
  const found = waysToName.map((fits) => candidates.find((type) => fits(type, name))).find((type) => type !== undefined)
  if (found !== undefined) return found
  const unknown = failures.map((failure) => `; could not look in ${failure}`).join('')
  throw new UsageError(`the server doesn't have a resource type ${JSON.stringify(dot < 0 ? word : name)}${unknown}`)
}

const waysToName: readonly ((type: DiscoveredType, name: string) => boolean)[] = [
  ({ plural }, name) => plural === name,
  ({ kind }, name) => kind.toLowerCase() === name,
  ({ shortNames }, name) => shortNames.includes(name),
]

function isIn({ group, version }: DiscoveredType, place: string): boolean {
  return place === group || place === `${version}.${group}`
}

/** How one object of a type is called: `configmap`, `lease.coordination.orch.io`. */
export function singularName({ kind, group }: DiscoveredType): string {
  return (group === '' ? kind : `${kind}.${group}`).toLowerCase()
}
