/** How a volume may be mounted: the modes that volumes offer and claims ask for. */
import { type FieldError, type FieldPath, forbidden, notSupported } from '../../../model/field-error.ts'
import { s } from '../../../schema/schema.ts'

export const accessModes = s.list(s.string())

/** In the order in which people list them. */
const shortNames = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
])

/** Not served yet: a volume for one pod alone. */
const single = 'ReadWriteOncePod'

const supported = [...shortNames.keys()].sort()

/** Faults name the list, not the element, as clients of this field are used to. */
export function checkAccessModes(modes: readonly string[] = [], path: FieldPath): FieldError[] {
  const shared = modes.includes(single) && modes.some((mode) => shortNames.has(mode))
  return [
    ...modes.filter((mode) => !shortNames.has(mode)).map((mode) => notSupported(path, mode, supported)),
    ...(shared ? [forbidden(path, `may not use ${single} with other access modes`)] : []),
  ]
}

/** `RWO,ROX`: each mode once. */
export function abbreviateModes(modes: readonly string[] = []): string {
  return [...shortNames].flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',')
}
