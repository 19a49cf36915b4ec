/**
 * Reads DeleteOptions from the body and the query. If there is a body, the query options are ignored, with two
 * exceptions that protect data: a dry run and preconditions take effect even if only the query contains them.
 */

import type { Json, JsonObject } from '../../../api/json/json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import { asJson } from '../../../api/model/object.ts'
import { decode } from '../../../api/schema/decode.ts'
import { deleteOptions } from '../../../api/schema/meta-types.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import type { Preconditions } from '../../registry/verbs/delete.ts'
import {
  type EvaluatedDeleteOptions,
  evaluateDeleteOptions,
  type SentDeleteOptions,
} from '../../registry/writes/delete-options.ts'
import { type BodyType, readOptionalContent } from './content.ts'
import { text, wholeNumber } from './query.ts'
import { isTrue } from './request-info.ts'
import type { ResourceRequest } from './resource-request.ts'

export interface ReadDeleteOptions extends EvaluatedDeleteOptions {
  /**
   * Whether the response to an incomplete deletion has status 202. True if the client set the legacy option
   * `orphanDependents: false`.
   */
  readonly waits: boolean
  /**
   * The options for admission webhooks, without apiVersion and kind, but including the dry run and preconditions from
   * the query.
   */
  readonly sent: JsonObject
}

export async function readDeleteOptions(request: ResourceRequest): Promise<ReadDeleteOptions> {
  const { exchange, info, resource } = request
  const { query, name } = info
  const body = await readOptionalContent(exchange, bodyTypeOf(resource))
  const sent = body === undefined ? fromQuery(query) : decodeOptions(body.value ?? {})
  // As in Kubernetes, the resourceVersion in the query of a deletecollection request with a body selects the version to
  // list and is not a precondition.
  const isVersionToList = name === '' && body !== undefined
  const queryPreconditions = { ...uidFromQuery(query), ...(isVersionToList ? {} : versionFromQuery(query)) }
  const judged = evaluateDeleteOptions(sent, resource, {
    dryRun: query.getAll('dryRun'),
    preconditions: queryPreconditions,
  })
  const { kind: _, apiVersion: __, dryRun: ___, preconditions: bodyPreconditions, ...rest } = sent
  const preconditions = { ...queryPreconditions, ...bodyPreconditions }
  const options = asJson({
    ...rest,
    ...(Object.keys(preconditions).length > 0 ? { preconditions } : {}),
    ...(judged.dryRun ? { dryRun: ['All'] } : {}),
  })
  return { ...judged, waits: sent.orphanDependents === false, sent: options }
}

function uidFromQuery(query: URLSearchParams): Preconditions {
  const uid = text(query, 'uid')
  return uid === '' ? {} : { uid }
}

function versionFromQuery(query: URLSearchParams): Preconditions {
  const resourceVersion = text(query, 'resourceVersion')
  return resourceVersion === '' ? {} : { resourceVersion }
}

function bodyTypeOf({ vendor, hasProtobuf }: Resource): BodyType {
  return {
    vendor,
    hasProtobuf,
    schemaOf: ({ kind }) => {
      assertKind(kind)
      return deleteOptions
    },
    mergesObjects: true,
  }
}

function decodeOptions(value: Json): SentDeleteOptions {
  const sent = decode(deleteOptions, value).value as SentDeleteOptions
  assertKind(sent.kind ?? '')
  return sent
}

function assertKind(kind: string): void {
  if (kind !== '' && kind !== 'DeleteOptions')
    throw badRequest(`the body of a delete request must be DeleteOptions, not ${shorten(kind, 50)}`)
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
