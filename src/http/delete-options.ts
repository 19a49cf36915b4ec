/** DeleteOptions, from the body and the query. Where a body is sent its options count, and a dry run from either. */
import { shorten } from '../base/shorten.ts'
import { badRequest } from '../model/api-error.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { asJson } from '../model/object.ts'
import { type JudgedDeleteOptions, judgeDeleteOptions, type SentDeleteOptions } from '../registry/delete-options.ts'
import type { Resource } from '../registry/resource.ts'
import { decode } from '../schema/decode.ts'
import { deleteOptions } from '../schema/meta-types.ts'
import { type BodyType, readOptionalContent } from './content.ts'
import type { Exchange } from './exchange.ts'
import { wholeNumber } from './query.ts'
import { isTrue } from './request-info.ts'

export interface ReadDeleteOptions extends JudgedDeleteOptions {
  /** An old way to wait for dependents: then a deletion that is not done yet is answered with 202. */
  readonly waits: boolean
  /** As they were sent, without their type; a dry run from either place counts. */
  readonly sent: JsonObject
}

export async function readDeleteOptions(exchange: Exchange, resource: Resource): Promise<ReadDeleteOptions> {
  const { query } = exchange.info
  const body = await readOptionalContent(exchange, bodyTypeOf(resource))
  const sent = body === undefined ? fromQuery(query) : decodeOptions(body.value ?? {})
  const judged = judgeDeleteOptions(sent, resource, query.getAll('dryRun'))
  const { kind: _, apiVersion: __, dryRun: ___, ...rest } = sent
  const options = asJson({ ...rest, ...(judged.dryRun ? { dryRun: ['All'] } : {}) })
  return { ...judged, waits: sent.orphanDependents === false, sent: options }
}

function bodyTypeOf({ vendor, hasProtobuf }: Resource): BodyType {
  return {
    vendor,
    hasProtobuf,
    schemaOf: ({ kind }) => {
      assertKind(kind)
      return deleteOptions
    },
  }
}

function decodeOptions(value: Json): SentDeleteOptions {
  const sent = decode(deleteOptions, value).value as SentDeleteOptions
  assertKind(sent.kind ?? '')
  return sent
}

function assertKind(kind: string): void {
  if (kind !== '' && kind !== 'DeleteOptions')
    throw badRequest(`the body of a delete is a DeleteOptions, not a ${shorten(kind, 50)}`)
}

function fromQuery(query: URLSearchParams): SentDeleteOptions {
  const grace = wholeNumber(query, 'gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = query.has('orphanDependents') ? isTrue(query, 'orphanDependents') : undefined
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === undefined ? {} : { orphanDependents: orphan }),
  }
}
