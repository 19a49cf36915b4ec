/** Validates DeleteOptions from the request body or the query, and applies the defaults of the kind. */
import { invalidObject } from '../../../api/model/api-error.ts'
import { type FieldError, invalid, notSupported } from '../../../api/model/field-error.ts'
import { groupName } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import type { deleteOptions } from '../../../api/schema/meta-types.ts'
import type { Infer } from '../../../api/schema/schema.ts'
import type { Resource } from '../catalogue/resource.ts'
import type { DeleteOptions, Preconditions, Propagation } from '../verbs/delete.ts'

export type SentDeleteOptions = Infer<typeof deleteOptions>

/** The validated options of a deletion. */
export interface EvaluatedDeleteOptions extends DeleteOptions {
  readonly dryRun: boolean
}

/** Options from the query that apply in addition to those from the request body. */
export interface QueryDeleteOptions {
  readonly dryRun: readonly string[]
  readonly preconditions?: Preconditions
}

/** Validates delete options, and combines them with the options in the query. Throws 422 if an option is invalid. */
export function evaluateDeleteOptions(
  sent: SentDeleteOptions,
  { kind, vendor }: Resource,
  query: QueryDeleteOptions,
): EvaluatedDeleteOptions {
  const dryRunValues = [...(sent.dryRun ?? []), ...query.dryRun.filter((value) => value !== '')]
  const errors = check(sent, dryRunValues)
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, 'meta'), kind: 'DeleteOptions' }, '', errors)
  return {
    gracePeriodSeconds: positive(sent.gracePeriodSeconds),
    propagation: propagationOf(sent, kind),
    preconditions: [sent.preconditions, query.preconditions].filter((some) => some !== undefined),
    dryRun: dryRunValues.length > 0,
  }
}

/** Returns the grace period in seconds. A negative period counts as one second, as in Kubernetes. */
function positive(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds < 0 ? 1 : seconds
}

const policies = ['Foreground', 'Background', 'Orphan']

function check(sent: SentDeleteOptions, dryRuns: readonly string[]): FieldError[] {
  const { propagationPolicy: policy, orphanDependents } = sent
  return [
    ...(policy !== undefined && orphanDependents !== undefined
      ? [invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set')]
      : []),
    ...(policy !== undefined && !policies.includes(policy)
      ? [notSupported('propagationPolicy', policy, [...policies, 'nil'])]
      : []),
    ...(dryRuns.every((value) => value === 'All') ? [] : [notSupported('dryRun', dryRuns, ['All'])]),
  ]
}

/**
 * Returns the propagation policy. The legacy option `orphanDependents: false` means Foreground for kinds that delay
 * their deletion, such as Namespace.
 */
function propagationOf(
  { propagationPolicy, orphanDependents }: SentDeleteOptions,
  kind: Kind,
): Propagation | undefined {
  if (propagationPolicy !== undefined) return propagationPolicy as Propagation
  if (orphanDependents === undefined) return undefined
  if (orphanDependents) return 'Orphan'
  return kind.lifecycle.holdsDeletion ? 'Foreground' : 'Background'
}
