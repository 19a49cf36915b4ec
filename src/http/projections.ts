/**
 * Other views of objects: as a Table for people, or their metadata alone. A view is made from the JSON of the answer,
 * whether that is one object or a list; a Status stays what it is.
 */

import { shorten } from '../base/shorten.ts'
import type { CachedObject } from '../cache/cached-object.ts'
import { type EventForm, type EventType, jsonEvents } from '../cache/event.ts'
import { parseOwnJson, stringifyJson } from '../codec/json.ts'
import { ApiError, badRequest } from '../model/api-error.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { type ApiObject, asJson, asObject } from '../model/object.ts'
import { groupName, profileNames, vendorOf } from '../model/vendor.ts'
import { formOf, readVersion } from '../registry/conversion.ts'
import type { Resource } from '../registry/resource.ts'
import type { Virtual } from '../registry/served.ts'
import { type Column, defaultColumns } from '../schema/columns.ts'
import { inStoredForm } from '../schema/complete.ts'
import type { Form } from './forms.ts'
import { partialObjects } from './protobuf-form.ts'

export const viewNames = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const

export type ViewName = (typeof viewNames)[number]

export interface Projection {
  readonly as: ViewName
  /** In whose name it was asked for, and is answered: `meta.orch.io`. */
  readonly group: string
  readonly version: string
}

const versions = ['v1', 'v1beta1']
/** Views are the same under every profile, so that kubectl has its columns from any server. */
const groups = profileNames.map((profile) => groupName(vendorOf(profile), 'meta'))

/** The projection that parameters of a media type ask for; undefined when there is no such one. */
export function findProjection(as: string, group: string, version: string): Projection | undefined {
  const name = viewNames.find((candidate) => candidate === as)
  if (name === undefined || !groups.includes(group) || !versions.includes(version)) return undefined
  return { as: name, group, version }
}

/** What can be shown otherwise: stored objects, and answers that are made on the spot. */
export type Viewed = Resource | Virtual

export interface View<T extends Viewed = Viewed> {
  readonly resource: T
  readonly projection: Projection
  /** What a row of a table carries of its object. */
  readonly include: 'None' | 'Metadata' | 'Object'
}

/** The view that a request asks for; throws 400 for a wrong `includeObject`. */
export function openView<T extends Viewed>(resource: T, projection: Projection, query: URLSearchParams): View<T> {
  const include = query.get('includeObject') || 'Metadata'
  if (projection.as === 'Table' && include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    throw badRequest(
      `unable to convert to Table: includeObject ${JSON.stringify(shorten(include, 50))} must be 'Metadata', 'Object', 'None' or empty`,
    )
  }
  return { resource, projection, include: include as View['include'] }
}

/** A form that shows this view of every object and list, written as `form` writes. */
export function projectedForm(form: Form, view: View): Form {
  return {
    mediaType: form.mediaType,
    streamType: form.streamType,
    encode: async (json, aside) => {
      const value = parseOwnJson(json)
      const projected =
        isObject(value) && value.kind !== 'Status' ? Buffer.from(stringifyJson(project(view, value))) : json
      return form.encode === undefined ? projected : await form.encode(projected, aside)
    },
    openList: form.openList,
    view: { list: (list) => projectList(view, list), item: (object) => projectItem(view, object) },
    shared: form.shared && partialObjects(view.projection.as, metaVersion(view), view.projection.version),
  }
}

function projectList(view: View, list: JsonObject): { shown: JsonObject; member: string } {
  return { shown: project(view, list), member: view.projection.as === 'Table' ? 'rows' : 'items' }
}

function projectItem(view: View, object: ApiObject): JsonObject {
  return view.projection.as === 'Table' ? rowOf(view, object) : partial(view, object)
}

function project(view: View, value: JsonObject): JsonObject {
  const items = Array.isArray(value.items) ? value.items.map((item) => withType(view, item)) : undefined
  const { as } = view.projection
  if (as === 'Table') return table(view, items ?? [asObject(value)], listMetadata(value, items !== undefined), true)
  if (as === 'PartialObjectMetadata') {
    if (items !== undefined) throw mismatch(as, 'is a list')
    return partial(view, asObject(value))
  }
  if (items === undefined) throw mismatch(as, 'is not a list')
  return {
    apiVersion: metaVersion(view),
    kind: as,
    metadata: value.metadata ?? {},
    items: items.map((item) => partial(view, item)),
  }
}

function mismatch(as: string, why: string): ApiError {
  return new ApiError(406, 'NotAcceptable', `you requested ${as}, but the requested object ${why}`)
}

function withType({ resource }: View, item: Json): ApiObject {
  return asObject({ apiVersion: resource.apiVersion, kind: resource.kind.kind, ...(item as JsonObject) })
}

function listMetadata({ metadata }: JsonObject, isList: boolean): JsonObject {
  if (!isObject(metadata)) return {}
  const { continue: token, ...rest } = metadata
  return isList
    ? { ...(token && { continue: token }), ...rest }
    : { ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }) }
}

function metaVersion({ projection: { group, version } }: View): string {
  return `${group}/${version}`
}

function partial(view: View, { metadata }: ApiObject): JsonObject {
  return { apiVersion: metaVersion(view), kind: 'PartialObjectMetadata', metadata: metadata as unknown as JsonObject }
}

function table(view: View, objects: readonly ApiObject[], metadata: JsonObject, withColumns: boolean): JsonObject {
  const columns = columnsOf(view)
  return {
    apiVersion: metaVersion(view),
    kind: 'Table',
    metadata,
    columnDefinitions: withColumns ? columns.map(({ cell: _, ...definition }) => definition) : [],
    rows: objects.map((object) => rowOf(view, object)),
  }
}

/** Rows are of the stored version, whichever is shown; `includeObject=Object` alone asks for the one shown. */
function rowOf(view: View, object: ApiObject): JsonObject {
  const stored = inStoredForm(view.resource, object)
  return { cells: cellsOf(view, stored), object: rowObject(view, object, stored) }
}

function columnsOf({ resource }: View): readonly Column[] {
  return (resource.stored ?? resource).kind.views.columns ?? defaultColumns
}

function cellsOf(view: View, stored: ApiObject): Json[] {
  const { clock, vendor } = view.resource
  const now = clock.now()
  return columnsOf(view).map((column) => shown(column.cell(stored, now, vendor)))
}

/** A control character in a cell could drive the terminal that it is printed on. */
function shown(cell: Json): Json {
  return typeof cell === 'string' ? cell.replaceAll(/\p{Cc}/gu, ' ') : cell
}

function rowObject(view: View, object: ApiObject, stored: ApiObject): JsonObject | null {
  if (view.include === 'None') return null
  return view.include === 'Object' ? asJson(object) : partial(view, withoutKept(view, stored))
}

/** Without the annotations that are there for clients of older versions alone. */
function withoutKept({ resource }: View, object: ApiObject): ApiObject {
  const { rowsWithout } = resource.kind.views
  const { annotations, ...metadata } = object.metadata
  if (annotations === undefined || rowsWithout === undefined) return object
  const left = Object.entries(annotations).filter(([key]) => !rowsWithout.includes(key))
  return { ...object, metadata: left.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(left) } }
}

/** The events of a watch in this view. Only the first Table of a watch carries the columns. */
export function projectedEvents(view: View<Resource>): EventForm {
  const name = `${formOf(view.resource)} ${view.projection.as} ${metaVersion(view)} ${view.include}`
  const rest = eventForm(`${name} rest`, ({ json }) => viewOf(view, readVersion(view.resource, json), false))
  if (view.projection.as !== 'Table') return rest
  const first = eventForm(`${name} first`, ({ json }) => viewOf(view, readVersion(view.resource, json), true))
  return { ...first, rest }
}

function eventForm(name: string, show: (object: CachedObject) => JsonObject): EventForm {
  const encode = (type: EventType, object: CachedObject) =>
    Buffer.from(`{"type":"${type}","object":${stringifyJson(show(object))}}\n`)
  return { name, encode, tell: jsonEvents.tell }
}

function viewOf(view: View, object: ApiObject, withColumns: boolean): JsonObject {
  if (view.projection.as !== 'Table') return partial(view, object)
  return table(view, [object], listMetadata(asJson(object), false), withColumns)
}
