/** Validates the names of Services, which become DNS names. */
import { checkDns1035Label, checkDnsLabel } from '../../../model/names.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'

/**
 * Validates the name of a Service. With the RelaxedServiceNameValidation feature gate, a name may start with a digit.
 */
export function checkServiceName(name: string, context?: RuleContext): string[] {
  const isRelaxed = context !== undefined && emulationOf(context).gates.has('RelaxedServiceNameValidation')
  return (isRelaxed ? checkDnsLabel : checkDns1035Label)(name)
}
