/**
 * Which users and groups a policy allows. `MustRunAs` wants an id of its ranges and gives the first of them to who has
 * none, `MayRunAs` only judges those that are there, `MustRunAsNonRoot` keeps root away, `RunAsAny` takes all.
 */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../api/model/field-error.ts'

export interface IdRule {
  readonly rule?: string
  readonly ranges?: readonly { readonly min?: number; readonly max?: number }[]
}

/** The default id; undefined where none is needed. */
export function idFrom({ rule, ranges = [] }: IdRule = {}): number | undefined {
  return rule === 'MustRunAs' ? ranges[0]?.min : undefined
}

/** Faults of ids; none of them is a fault where one must be there. */
export function checkIds({ rule, ranges = [] }: IdRule = {}, ids: readonly number[], path: FieldPath): FieldError[] {
  if (rule !== 'MustRunAs' && rule !== 'MayRunAs') return []
  if (ids.length === 0)
    return rule === 'MustRunAs' && ranges.length > 0 ? [required(path, `must be in the ranges ${shown(ranges)}`)] : []
  const isAllowed = (id: number) => ranges.some(({ min = 0, max = 0 }) => id >= min && id <= max)
  return ids.filter((id) => !isAllowed(id)).map((id) => invalid(path, id, `must be in the ranges ${shown(ranges)}`))
}

function shown(ranges: NonNullable<IdRule['ranges']>): string {
  return `[${ranges.map(({ min = 0, max = 0 }) => `${min}-${max}`).join(', ')}]`
}

/** Who runs a container. */
export interface Ran {
  readonly runAsUser: number | undefined
  readonly runAsNonRoot: boolean | undefined
}

export function checkUser(rule: IdRule = {}, { runAsUser, runAsNonRoot }: Ran, path: FieldPath): FieldError[] {
  const place = child(path, 'runAsUser')
  if (rule.rule !== 'MustRunAsNonRoot') return checkIds(rule, runAsUser === undefined ? [] : [runAsUser], place)
  if (runAsNonRoot === undefined && runAsUser === undefined)
    return [required(child(path, 'runAsNonRoot'), 'must be true')]
  return [
    ...(runAsNonRoot === false ? [invalid(child(path, 'runAsNonRoot'), false, 'must be true')] : []),
    ...(runAsUser === 0 ? [invalid(place, 0, 'running with the root UID is forbidden')] : []),
  ]
}
