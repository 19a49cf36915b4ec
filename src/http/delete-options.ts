/** DeleteOptions, from the body and the query. Where a body is sent its options count, and a dry run from either. */
import { shorten } from '../base/shorten.ts'
import { badRequest, invalidObject } from '../model/api-error.ts'
import { type FieldError, invalid, notSupported } from '../model/field-error.ts'
import type { Json } from '../model/json.ts'
import { groupName } from '../model/vendor.ts'
import type { DeleteOptions, Propagation } from '../registry/delete.ts'
import type { Resource } from '../registry/resource.ts'
import { decode } from '../schema/decode.ts'
import type { Kind } from '../schema/kind.ts'
import { deleteOptions } from '../schema/meta-types.ts'
import type { Infer } from '../schema/schema.ts'
import { readOptionalContent } from './content.ts'
import type { Exchange } from './exchange.ts'
import { wholeNumber } from './query.ts'
import { isTrue } from './request-info.ts'

type Sent = Infer<typeof deleteOptions>

export interface ReadDeleteOptions extends DeleteOptions {
  readonly dryRun: boolean
  /** An old way to wait for dependents: then a deletion that is not done yet is answered with 202. */
  readonly waits: boolean
}

export async function readDeleteOptions(exchange: Exchange, { kind, vendor }: Resource): Promise<ReadDeleteOptions> {
  const { query } = exchange.info
  const body = await readOptionalContent(exchange)
  const sent = body === undefined ? fromQuery(query) : decodeOptions(body.value ?? {})
  const dryRuns = [...(sent.dryRun ?? []), ...query.getAll('dryRun')].filter((value) => value !== '')
  const errors = check(sent, dryRuns)
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, 'meta'), kind: 'DeleteOptions' }, '', errors)
  return {
    gracePeriodSeconds: sent.gracePeriodSeconds,
    propagation: propagationOf(sent, kind),
    uid: sent.preconditions?.uid,
    resourceVersion: sent.preconditions?.resourceVersion,
    dryRun: dryRuns.length > 0,
    waits: sent.orphanDependents === false,
  }
}

function decodeOptions(value: Json): Sent {
  const sent = decode(deleteOptions, value).value as Sent
  if (sent.kind !== undefined && sent.kind !== 'DeleteOptions')
    throw badRequest(`the body of a delete is a DeleteOptions, not a ${shorten(sent.kind, 50)}`)
  return sent
}

function fromQuery(query: URLSearchParams): Sent {
  const grace = wholeNumber(query, 'gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = query.has('orphanDependents') ? isTrue(query, 'orphanDependents') : undefined
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
  }
}

const policies = ['Foreground', 'Background', 'Orphan']

function check(sent: Sent, dryRuns: readonly string[]): FieldError[] {
  const { propagationPolicy: policy, orphanDependents, gracePeriodSeconds: grace = 0 } = sent
  return [
    ...(grace < 0 ? [invalid('gracePeriodSeconds', grace, 'must be greater than or equal to 0')] : []),
    ...(policy !== undefined && orphanDependents !== undefined
      ? [invalid('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set')]
      : []),
    ...(policy !== undefined && !policies.includes(policy)
      ? [notSupported('propagationPolicy', policy, [...policies, 'nil'])]
      : []),
    ...(dryRuns.every((value) => value === 'All') ? [] : [notSupported('dryRun', dryRuns as Json, ['All'])]),
  ]
}

/** Not to orphan, in the older words, means to wait where a kind holds its deletion anyway: with a Namespace. */
function propagationOf({ propagationPolicy, orphanDependents }: Sent, kind: Kind): Propagation | undefined {
  if (propagationPolicy !== undefined) return propagationPolicy as Propagation
  if (orphanDependents === undefined) return undefined
  if (orphanDependents) return 'Orphan'
  return kind.life.holdsDeletion ? 'Foreground' : 'Background'
}
