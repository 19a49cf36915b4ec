/**
 * Strict validation of the IP addresses and ranges in existing fields. It requires the StrictIPCIDRValidation feature
 * gate and skips values that the stored object already has.
 */
import { type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { parseIp, parseRange } from '../../../model/ip-range.ts'
import type { NameCheck } from '../../../model/names.ts'
import { checkStrictIp, checkStrictRange } from '../../../model/strict-ip.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'

/** A string value with its field path. */
export type Located = readonly [path: FieldPath, text: string]

interface Change {
  readonly next: readonly Located[]
  readonly previous?: readonly Located[] | undefined
}

/** Validates new addresses strictly. Invalid addresses are reported elsewhere. */
export function strictIpFaults(change: Change, context: RuleContext): FieldError[] {
  return strictFaults(change, { check: checkStrictIp, isValid: (text) => parseIp(text) !== undefined }, context)
}

/** Validates new ranges strictly. Invalid ranges are reported elsewhere. */
export function strictRangeFaults(change: Change, context: RuleContext): FieldError[] {
  return strictFaults(change, { check: checkStrictRange, isValid: (text) => parseRange(text) !== undefined }, context)
}

function strictFaults(
  { next, previous = [] }: Change,
  { check, isValid }: { readonly check: NameCheck; readonly isValid: (text: string) => boolean },
  context: RuleContext,
): FieldError[] {
  if (next.length === 0 || !emulationOf(context).gates.has('StrictIPCIDRValidation')) return []
  const stored = new Set(previous.map(([, text]) => text))
  return next
    .filter(([, text]) => !stored.has(text) && isValid(text))
    .flatMap(([path, text]) => check(text).map((fault) => invalid(path, text, fault)))
}
