/** A request for a resource that is served: what the verbs' handlers are given. */

import type { FieldError } from '../../../api/model/field-error.ts'
import type { DroppedField } from '../../../api/schema/context.ts'
import type { Admission } from '../../admission/admission.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import type { WriteContext } from '../../registry/writes/write.ts'
import { assertAllowed } from '../steps/authorize.ts'
import type { WatchMetrics } from '../watch-metrics.ts'
import type { Exchange } from './exchange.ts'
import type { ResourceInfo } from './request-info.ts'
import { fieldValidation, managerName, readWriteOptions, sentWriteOptions } from './write-options.ts'

export interface ResourceRequest {
  readonly exchange: Exchange
  readonly info: ResourceInfo
  readonly resource: Resource
  readonly admission: Admission
  readonly watchMetrics: WatchMetrics
  /** The least that a watch lasts which asks for no time of its own. */
  readonly minWatchMs: number
  readonly authorizer: Authorizer
}

export type Handler = (request: ResourceRequest) => void | Promise<void>

/** `optionsKind` names the options in errors: CreateOptions and so on. `faults` are reported with those found here. */
export function writeContext(
  { exchange, info, resource, admission, authorizer }: ResourceRequest,
  optionsKind: string,
  faults: readonly FieldError[] = [],
): WriteContext {
  const { dryRun, fieldManager } = readWriteOptions(info.query, { kind: optionsKind, vendor: resource.vendor, faults })
  return {
    resource: resource.stored ?? resource,
    through: resource,
    namespace: info.namespace,
    subresource: info.subresource,
    user: exchange.user,
    verb: info.verb,
    dryRun,
    sentOptions: () => sentWriteOptions(info.query),
    fieldManager: managerName(fieldManager, exchange.headers.first('user-agent')),
    admission,
    explanation: exchange.explanation,
    traceHeaders: () => exchange.traceHeaders,
    bypass: exchange.bypass,
    audit: exchange.audit,
    deadline: exchange.deadline,
    warn: (text) => exchange.warn(text),
    onDropped: asksAboutFields(info.query) ? (field) => warnOfDropped(exchange, field) : undefined,
    abandoned: () => exchange.abandoned,
    pace: exchange.pace,
    timings: exchange.timings,
    // Who updates or applies may find that it is a creation, which is a right of its own.
    assertMayCreate: () => assertAllowed(authorizer, { user: exchange.user, attributes: { ...info, verb: 'create' } }),
  }
}

/**
 * Whether the client wants to know of fields that are not stored, and says so. Kubernetes drops a field behind a disabled
 * gate silently, so a client that says nothing gets no warning that it would not get there.
 */
function asksAboutFields(query: URLSearchParams): boolean {
  return query.has('fieldValidation') && fieldValidation(query) !== 'Ignore'
}

/** The write succeeds without the field, so even `fieldValidation=Strict` cannot reject it as unknown. */
function warnOfDropped(exchange: Exchange, { path, feature }: DroppedField): void {
  exchange.warn(`${path}: dropped, because the feature ${feature} is disabled`)
}
