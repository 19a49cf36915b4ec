/** Reads the name of a node from a flag. */
import { checkDnsSubdomain } from '../../api/model/names.ts'
import { UsageError } from '../../base/flags/flags.ts'

/**
 * Parses a node name. Throws UsageError if it is invalid. An empty value is valid and means that the flag is not set.
 */
export function readNodeName(value: string): string {
  const [fault] = value === '' ? [] : checkDnsSubdomain(value)
  if (fault !== undefined) throw new UsageError(`${JSON.stringify(value)} is not a valid node name: ${fault}`)
  return value
}
