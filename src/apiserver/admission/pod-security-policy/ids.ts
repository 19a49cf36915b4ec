/**
 * User and group IDs that a policy allows. `MustRunAs` requires an ID from its ranges and defaults to the first ID.
 * `MayRunAs` checks an ID only if it is set. `MustRunAsNonRoot` forbids root. `RunAsAny` allows everything.
 */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../api/model/field-error.ts'

export interface IdRule {
  readonly rule?: string
  readonly ranges?: readonly { readonly min?: number; readonly max?: number }[]
}

/** Returns the ID that a policy assigns by default. Returns undefined if the policy requires no particular ID. */
export function idFrom({ rule, ranges = [] }: IdRule = {}): number | undefined {
  return rule === 'MustRunAs' ? ranges[0]?.min : undefined
}

/** Returns an error for each ID that the rule does not allow. A missing ID is an error if the rule requires an ID. */
export function checkIds({ rule, ranges = [] }: IdRule = {}, ids: readonly number[], path: FieldPath): FieldError[] {
  if (rule !== 'MustRunAs' && rule !== 'MayRunAs') return []
  if (ids.length === 0)
    return rule === 'MustRunAs' && ranges.length > 0
      ? [required(path, `must be in the ranges ${formatRanges(ranges)}`)]
      : []
  const isAllowed = (id: number) => ranges.some(({ min = 0, max = 0 }) => id >= min && id <= max)
  return ids
    .filter((id) => !isAllowed(id))
    .map((id) => invalid(path, id, `must be in the ranges ${formatRanges(ranges)}`))
}

function formatRanges(ranges: NonNullable<IdRule['ranges']>): string {
  return `[${ranges.map(({ min = 0, max = 0 }) => `${min}-${max}`).join(', ')}]`
}

/** The user settings of a container: its user ID, and whether it must not run as root. */
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
