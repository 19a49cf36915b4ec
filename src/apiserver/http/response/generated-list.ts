/**
 * Lists that are generated on request (`componentstatuses`, `auditevents`). Their query is checked like that of any
 * other list, and both selectors apply. They have no history and no paging.
 */

import { badRequest } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import { FieldMatcher, type FieldRequirement, parseFieldSelector } from '../../../api/selectors/field-selector.ts'
import { LabelMatcher, parseLabelSelector } from '../../../api/selectors/label-selector.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import { checkListOptions, readCounts } from '../request/list-options.ts'
import { text } from '../request/query.ts'

/** Reads the query and returns a function that filters the items of a list. */
export function itemChoice(query: URLSearchParams, served: Served): (list: ApiObject) => ApiObject {
  readCounts(query)
  const labels = new LabelMatcher(parseLabelSelector(text(query, 'labelSelector')))
  const fields = new FieldMatcher(readFields(text(query, 'fieldSelector')))
  checkListOptions(query, served)
  const isMeant = ({ metadata }: ApiObject) =>
    labels.matches(metadata.labels ?? {}) && fields.matches(() => metadata.name)
  return (list) => ({ ...list, items: (list.items as readonly ApiObject[]).filter(isMeant) })
}

function readFields(selector: string): FieldRequirement[] {
  const fields = parseFieldSelector(selector)
  const unknown = fields.find(({ path }) => path !== 'metadata.name')
  if (unknown === undefined) return fields
  throw badRequest(`${JSON.stringify(shorten(unknown.path, 100))} is not a known field selector: only "metadata.name"`)
}
