/** Access modes, which define how a volume may be mounted. Volumes offer modes and claims request them. */
import { type FieldError, type FieldPath, forbidden, notSupported } from '../../../model/field-error.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { s } from '../../../schema/schema.ts'

export const accessModes = s.list(s.string())

/** Short names of the access modes, in display order. */
const shortNames = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
])

/** The access mode for a single pod. It requires the feature gate of the same name. */
const single = 'ReadWriteOncePod'

/** Validates the access modes. Errors are reported for the list instead of the element, as clients expect. */
export function checkAccessModes(modes: readonly string[] = [], path: FieldPath, context: RuleContext): FieldError[] {
  const allowsSingle = emulationOf(context).gates.has(single)
  const supported = [...shortNames.keys()].filter((mode) => allowsSingle || mode !== single).sort()
  const isShared = modes.includes(single) && modes.some((mode) => mode !== single && shortNames.has(mode))
  return [
    ...modes.filter((mode) => !supported.includes(mode)).map((mode) => notSupported(path, mode, supported)),
    ...(isShared ? [forbidden(path, `may not use ${single} with other access modes`)] : []),
  ]
}

/** Returns abbreviations such as `RWO,ROX`. A repeated mode appears only once. */
export function abbreviateModes(modes: readonly string[] = []): string {
  return [...shortNames].flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',')
}
