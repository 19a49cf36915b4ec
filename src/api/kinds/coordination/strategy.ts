/** The strategies of coordinated leader election. Leases and candidates each name a strategy. */
import { child, type FieldError, type FieldPath, invalid, notSupported } from '../../model/field-error.ts'
import { checkQualifiedName } from '../../model/names.ts'

const strategies = ['OldestEmulationVersion']

/**
 * Validates the name of a strategy. Strategies of third parties have a domain. For an unknown strategy, the error path
 * contains the name of the field twice, as clients expect.
 */
export function checkStrategy(strategy: string, path: FieldPath): FieldError[] {
  if (!strategy.includes('/'))
    return strategies.includes(strategy) ? [] : [notSupported(child(path, 'strategy'), strategy, strategies)]
  return checkQualifiedName(strategy).map((fault) => invalid(path, strategy, fault))
}
