/** Access modes: how a volume may be mounted. Volumes offer modes and claims request them. */
import { type FieldError, type FieldPath, forbidden, notSupported } from '../../../model/field-error.ts'
import { s } from '../../../schema/schema.ts'

export const accessModes = s.list(s.string())

/** Abbreviations, in the usual display order. */
const shortNames = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
])

/** Not supported yet: access by a single pod. */
const single = 'ReadWriteOncePod'

const supported = [...shortNames.keys()].sort()

/** Errors name the list, not the element, because clients expect that path. */
export function checkAccessModes(modes: readonly string[] = [], path: FieldPath): FieldError[] {
  const shared = modes.includes(single) && modes.some((mode) => shortNames.has(mode))
  return [
    ...modes.filter((mode) => !shortNames.has(mode)).map((mode) => notSupported(path, mode, supported)),
    ...(shared ? [forbidden(path, `may not use ${single} with other access modes`)] : []),
  ]
}

/** Returns abbreviations such as `RWO,ROX`, each mode once. */
export function abbreviateModes(modes: readonly string[] = []): string {
  return [...shortNames].flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',')
}
