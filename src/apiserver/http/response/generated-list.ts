/**
 * Lists that are generated on request (`componentstatuses`, `auditevents`). Their queries are validated like those of
 * any other list, and both label and field selectors apply. Generated lists have no history and no pages.
 */

import { Cutter } from '../../../api/codec/cut-json.ts'
import { parseOwnJson, stringifyJson } from '../../../api/codec/json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson } from '../../../api/model/object.ts'
import { FieldMatcher, type FieldRequirement, parseFieldSelector } from '../../../api/selectors/field-selector.ts'
import { LabelMatcher, parseLabelSelector } from '../../../api/selectors/label-selector.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Served } from '../../registry/catalogue/served.ts'
import type { ListExtensions } from '../request/list-extensions.ts'
import { checkListOptions, readCounts } from '../request/list-options.ts'
import { text } from '../request/query.ts'

/**
 * Parses the query parameters of a generated list. Returns a function that applies them to the list: selectors, sorting
 * and limits.
 */
export function itemChoice(
  query: URLSearchParams,
  served: Served,
  extensions: ListExtensions | undefined,
): (list: ApiObject) => ApiObject {
  readCounts(query)
  const labels = new LabelMatcher(parseLabelSelector(text(query, 'labelSelector')))
  const fields = new FieldMatcher(readFields(text(query, 'fieldSelector')))
  checkListOptions(query, served)
  const extend = extensions ? extension(extensions) : (list: ApiObject) => list
  const isMeant = ({ metadata }: ApiObject) =>
    labels.matches(metadata.labels ?? {}) && fields.matches(() => metadata.name)
  return (list) => extend({ ...list, items: (list.items as readonly ApiObject[]).filter(isMeant) })
}

/**
 * Returns a function that applies `fields`, `sort` and `count` to a generated list. Paging is unnecessary because these
 * lists are short.
 */
function extension({ cut, order, counts }: ListExtensions): (list: ApiObject) => ApiObject {
  const cutter = cut && new Cutter(cut)
  return (list) => {
    const items = (list.items as readonly ApiObject[]).map((item) => {
      const json = Buffer.from(stringifyJson(asJson(item)))
      return { item, json, key: item.metadata.name ?? '', values: order?.valuesOf(json) ?? [] }
    })
    if (counts) return { ...list, metadata: { ...list.metadata, remainingItemCount: items.length }, items: [] }
    if (order !== undefined) items.sort(order.compare)
    return { ...list, items: items.map(({ item, json }) => (cutter ? parseOwnJson(cutter.cut(json)) : item)) }
  }
}

function readFields(selector: string): FieldRequirement[] {
  const fields = parseFieldSelector(selector)
  const unknown = fields.find(({ path }) => path !== 'metadata.name')
  if (unknown === undefined) return fields
  throw badRequest(`${JSON.stringify(shorten(unknown.path, 100))} is not a known field selector: only "metadata.name"`)
}
