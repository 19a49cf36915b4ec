/** Strategies of coordinated leader election. Leases and candidates name one. */
import { child, type FieldError, type FieldPath, invalid, notSupported } from '../../model/field-error.ts'
import { checkQualifiedName } from '../../model/names.ts'

const strategies = ['OldestEmulationVersion']

/** Strategies of third parties have a domain. Clients expect the name of the field twice in the path of an unknown one. */
export function checkStrategy(strategy: string, path: FieldPath): FieldError[] {
  if (!strategy.includes('/'))
    return strategies.includes(strategy) ? [] : [notSupported(child(path, 'strategy'), strategy, strategies)]
  return checkQualifiedName(strategy).map((fault) => invalid(path, strategy, fault))
}
