/** The names of the built-in kinds by API group. Custom resource definitions must not use these names. */
import { groupName } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { Catalogue } from '../../registry/catalogue/catalogue.ts'
import type { ServedType } from '../../registry/catalogue/resource.ts'
import { namesTaken, type TakenNames } from './names.ts'

/** Returns the built-in names of an API group. */
export function ownNames(catalogue: Catalogue, group: string): TakenNames {
  return byGroup(catalogue).get(group) ?? none
}

const none = namesTaken([])
const namesByCatalogue = new WeakMap<Catalogue, ReadonlyMap<string, TakenNames>>()

/** Returns the names by group. The names are computed once, because built-in kinds never change. */
function byGroup(catalogue: Catalogue): ReadonlyMap<string, TakenNames> {
  const before = namesByCatalogue.get(catalogue)
  if (before !== undefined) return before
  const own = catalogue.everyType().filter(({ kind }) => kind.origin === 'built-in')
  const named = Map.groupBy(own.flatMap(namesIn), ({ group }) => group)
  const made = new Map([...named].map(([group, all]) => [group, namesTaken(all.map(({ names }) => names))]))
  namesByCatalogue.set(catalogue, made)
  return made
}

function namesIn({ vendor, kind, group, plural, subresources }: ServedType) {
  const { shortNames = [], singular = kind.kind.toLowerCase(), listKind = `${kind.kind}List` } = kind
  const names = { plural, singular, kind: kind.kind, listKind, shortNames: [...shortNames] }
  const sent = [...subresources.values()].flatMap(({ type }) => (type === undefined ? [] : [type]))
  const nameOf = (type: Kind) => ({ group: groupName(vendor, type.group), names: { kind: type.kind } })
  return [{ group, names }, ...sent.map(nameOf)]
}
