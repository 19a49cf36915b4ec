/**
 * The query parameters of list, watch and deletecollection, including the checks of resourceVersion,
 * resourceVersionMatch and sendInitialEvents.
 */
import { invalidObject } from '../../../api/model/api-error.ts'
import { type FieldError, forbidden, notSupported } from '../../../api/model/field-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { emulationOf } from '../../../api/schema/context.ts'
import { type EmulatedVersion, isAtLeast } from '../../../api/versions/emulated-version.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import { type ParsedSelection, parseSelection } from '../../registry/reads/selection.ts'
import type { ListQuery } from '../../registry/verbs/list.ts'
import type { ListExtensions } from './list-extensions.ts'
import { text, wholeNumber } from './query.ts'
import { isTrue } from './request-info.ts'
import type { ResourceRequest } from './resource-request.ts'

/** Returns the selection of a request: its namespace and name from the path, and its label and field selectors. */
export function readSelection({ info, resource }: ResourceRequest): ParsedSelection {
  return parseSelection(resource, {
    namespace: info.namespace === '' ? undefined : info.namespace,
    name: info.name === '' ? undefined : info.name,
    labelSelector: text(info.query, 'labelSelector'),
    fieldSelector: text(info.query, 'fieldSelector'),
  })
}

export function readListQuery(request: ResourceRequest, extensions?: ListExtensions): ListQuery {
  const { exchange, info, resource } = request
  const { query } = info
  // Report invalid values before invalid combinations of parameters.
  const { limit } = readCounts(query)
  const selection = readSelection(request)
  checkListOptions(query, resource)
  return {
    selection,
    limit: resource.gates.has('APIListChunking') ? limit : 0,
    continueToken: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    match: text(query, 'resourceVersionMatch') as ListQuery['match'],
    user: exchange.user.name,
    order: extensions?.order,
    counts: extensions?.counts ?? false,
    scope: JSON.stringify([exchange.user.name, info.path, text(query, 'labelSelector'), text(query, 'fieldSelector')]),
  }
}

/**
 * Reads the `limit` and `timeoutSeconds` parameters. Both must be valid numbers even if the request ignores one of
 * them.
 */
export function readCounts(query: URLSearchParams): { readonly limit: number; readonly timeoutSeconds: number } {
  const count = (name: string) => Math.max(wholeNumber(query, name) ?? 0, 0)
  return { limit: count('limit'), timeoutSeconds: count('timeoutSeconds') }
}

/** The start position of a watch. */
export interface WatchStart {
  readonly resourceVersion: string
  /**
   * Whether to send the current objects first. If undefined, the current objects are sent only if the request specifies
   * no resourceVersion or resourceVersion 0.
   */
  readonly initialEvents: boolean | undefined
}

/** Reads the start of a watch from the query. Throws a 422 for parameters that cannot be combined. */
export function readWatchStart({ info: { query }, resource }: ResourceRequest): WatchStart {
  const resourceVersion = text(query, 'resourceVersion')
  const sent = sentListOptions(query)
  // If streaming lists are enabled, a watch without start parameters is a streaming list too.
  const isStreamingList =
    resource.gates.has('WatchList') &&
    sent.initialEvents === undefined &&
    sent.match === '' &&
    (resourceVersion === '' || resourceVersion === '0')
  const options = isStreamingList ? { ...sent, initialEvents: true, match: 'NotOlderThan' } : sent
  const knowsInitialEvents = isAtLeast(versionOf(resource), firstWithInitialEvents)
  const errors = knowsInitialEvents
    ? watchOptionErrors(options, resource.gates.has('WatchList'))
    : olderWatchOptionErrors(sent)
  refuse(errors, resource.vendor)
  if (!knowsInitialEvents) return { resourceVersion, initialEvents: undefined }
  return { resourceVersion, initialEvents: options.initialEvents }
}

/** The first Kubernetes version that supports the parameter sendInitialEvents. Older versions ignore it. */
const firstWithInitialEvents = '1.27'

function versionOf({ context }: Pick<Served, 'context'>): EmulatedVersion {
  return emulationOf(context).version
}

interface SentListOptions {
  readonly resourceVersion: string
  readonly match: string
  readonly isContinued: boolean
  /** Whether the client requests the initial events. Undefined if the client did not send the parameter. */
  readonly initialEvents: boolean | undefined
}

function sentListOptions(query: URLSearchParams): SentListOptions {
  return {
    resourceVersion: text(query, 'resourceVersion'),
    match: text(query, 'resourceVersionMatch'),
    isContinued: text(query, 'continue') !== '',
    initialEvents: query.has('sendInitialEvents') ? isTrue(query, 'sendInitialEvents') : undefined,
  }
}

const matchPath = 'resourceVersionMatch'
const noContinue = 'resourceVersionMatch is forbidden when continue is provided'
const noWatchList = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled'

function watchOptionErrors(sent: SentListOptions, hasWatchList: boolean): FieldError[] {
  const { match, initialEvents, isContinued } = sent
  const errors: FieldError[] = []
  if (initialEvents !== undefined) {
    if (match !== 'NotOlderThan')
      errors.push(forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
    if (!hasWatchList) errors.push(forbidden('sendInitialEvents', noWatchList))
  }
  if (match === '') return errors
  if (initialEvents === undefined)
    errors.push(
      forbidden(matchPath, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    )
  if (match !== 'NotOlderThan') errors.push(notSupported(matchPath, match, ['NotOlderThan']))
  if (isContinued) errors.push(forbidden(matchPath, noContinue))
  return errors
}

/** Returns the errors in the parameters of a watch for Kubernetes versions before 1.27. */
function olderWatchOptionErrors(sent: SentListOptions): FieldError[] {
  if (sent.match === '') return []
  return [forbidden(matchPath, 'resourceVersionMatch is forbidden for watch'), ...matchErrors(sent)]
}

/** Checks the parameters of a list. Throws a 422 if the parameters cannot be combined. */
export function checkListOptions(query: URLSearchParams, resource: Pick<Served, 'context' | 'vendor'>): void {
  const sent = sentListOptions(query)
  const errors = matchErrors(sent)
  if (sent.initialEvents !== undefined && isAtLeast(versionOf(resource), firstWithInitialEvents))
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  refuse(errors, resource.vendor)
}

const matches = ['Exact', 'NotOlderThan', '']

function matchErrors({ match, resourceVersion, isContinued }: SentListOptions): FieldError[] {
  const errors: FieldError[] = []
  if (match === '') return errors
  if (resourceVersion === '')
    errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
  if (isContinued) errors.push(forbidden(matchPath, noContinue))
  if (!matches.includes(match)) errors.push(notSupported(matchPath, match, matches))
  if (match === 'Exact' && resourceVersion === '0')
    errors.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  return errors
}

function refuse(errors: readonly FieldError[], vendor: Vendor): void {
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, 'meta'), kind: 'ListOptions' }, '', errors)
}
