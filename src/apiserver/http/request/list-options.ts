/**
 * The query parameters of list, watch and deletecollection, with the checks on resourceVersion and
 * resourceVersionMatch.
 */
import { invalidObject } from '../../../api/model/api-error.ts'
import { type FieldError, forbidden, notSupported } from '../../../api/model/field-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { type ParsedSelection, parseSelection } from '../../registry/reads/selection.ts'
import type { ListQuery } from '../../registry/verbs/list.ts'
import { text, wholeNumber } from './query.ts'
import type { ResourceRequest } from './resource-request.ts'

/** The objects that a request selects, by its path, label selector and field selector. */
export function readSelection({ info, resource }: ResourceRequest): ParsedSelection {
  return parseSelection(resource, {
    namespace: info.namespace === '' ? undefined : info.namespace,
    name: info.name === '' ? undefined : info.name,
    labelSelector: text(info.query, 'labelSelector'),
    fieldSelector: text(info.query, 'fieldSelector'),
  })
}

/** Reads the query of a list. */
export function readListQuery(request: ResourceRequest): ListQuery {
  const { exchange, info, resource } = request
  const { query } = info
  // Report unreadable values before invalid combinations.
  const { limit } = readCounts(query)
  const selection = readSelection(request)
  checkVersionMatch(query, resource.vendor, false)
  return {
    selection,
    limit: resource.gates.has('APIListChunking') ? limit : 0,
    continueToken: text(query, 'continue'),
    resourceVersion: text(query, 'resourceVersion'),
    match: text(query, 'resourceVersionMatch') as ListQuery['match'],
    user: exchange.user.name,
    scope: JSON.stringify([exchange.user.name, info.path, text(query, 'labelSelector'), text(query, 'fieldSelector')]),
  }
}

/**
 * Reads the numeric parameters of a list or watch. Both must be valid numbers, even if the request does not use them.
 */
export function readCounts(query: URLSearchParams): { readonly limit: number; readonly timeoutSeconds: number } {
  const count = (name: string) => Math.max(wholeNumber(query, name) ?? 0, 0)
  return { limit: count('limit'), timeoutSeconds: count('timeoutSeconds') }
}

const matches = ['Exact', 'NotOlderThan', '']

/** Any misuse of resourceVersionMatch results in a 422. */
export function checkVersionMatch(query: URLSearchParams, vendor: Vendor, watch: boolean): void {
  const match = text(query, 'resourceVersionMatch')
  if (match === '') return
  const path = 'resourceVersionMatch'
  const version = text(query, 'resourceVersion')
  const errors: FieldError[] = []
  if (watch) errors.push(forbidden(path, 'resourceVersionMatch is forbidden for watch'))
  if (version === '')
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
  if (text(query, 'continue') !== '')
    errors.push(forbidden(path, 'resourceVersionMatch is forbidden when continue is provided'))
  if (!matches.includes(match)) errors.push(notSupported(path, match, matches))
  if (match === 'Exact' && version === '0')
    errors.push(forbidden(path, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  if (errors.length > 0) throw invalidObject({ group: groupName(vendor, 'meta'), kind: 'ListOptions' }, '', errors)
}
