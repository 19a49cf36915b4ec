/** The input of all verb handlers: a request with the resource that it refers to. */

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
  /** Minimum duration in milliseconds of a watch that sets no timeout. */
  readonly minWatchMs: number
  readonly authorizer: Authorizer
  /** Whether lists support query parameters that Kubernetes does not have (`--extensions`). */
  readonly extensions: boolean
}

export type Handler = (request: ResourceRequest) => void | Promise<void>

/**
 * Returns the context for a write. The errors in `faults` are reported together with errors in the write's own options.
 * `optionsKind` is the kind of options to name in these errors, such as CreateOptions.
 */
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
    timeSlice: exchange.timeSlice,
    timings: exchange.timings,
    // An update or apply that creates the object also requires the create permission.
    assertMayCreate: () => assertAllowed(authorizer, { user: exchange.user, attributes: { ...info, verb: 'create' } }),
  }
}

/**
 * Whether the client explicitly requests reports about fields that are not stored. Kubernetes silently drops fields
 * behind a disabled feature gate, so a client that sends no fieldValidation gets no warning about them.
 */
function asksAboutFields(query: URLSearchParams): boolean {
  return query.has('fieldValidation') && fieldValidation(query) !== 'Ignore'
}

/**
 * Warns about a dropped field. The write succeeds without the field, so not even `fieldValidation=Strict` may reject
 * the field as unknown.
 */
function warnOfDropped(exchange: Exchange, { path, feature }: DroppedField): void {
  exchange.warn(`${path}: dropped because the ${feature} feature gate is disabled`)
}
