/**
 * Projections of objects: a Table for display, or only the metadata. A projection is computed from the JSON of the
 * response, which is an object or a list. A Status is not projected.
 */

import { jsonDocument, parseOwnSliced } from '../../../api/codec/json.ts'
import type { Order } from '../../../api/codec/member-order.ts'
import { metadataText } from '../../../api/codec/metadata-text.ts'
import { textSliced } from '../../../api/codec/sliced-json.ts'
import { defined, isObject, type Json, type JsonObject } from '../../../api/json/json.ts'
import { ApiError, badRequest } from '../../../api/model/api-error.ts'
import { type ApiObject, asJson, asObject } from '../../../api/model/object.ts'
import { groupName, profileNames, vendorOf } from '../../../api/model/vendor.ts'
import { type Column, defaultColumns } from '../../../api/schema/columns.ts'
import { orderOf } from '../../../api/schema/kind.ts'
import { inStoredForm } from '../../../api/schema/normalize.ts'
import { partialObjectMetadata, partialObjectMetadataList } from '../../../api/schema/partial-metadata.ts'
import { type Schema, s } from '../../../api/schema/schema.ts'
import { tableOf, tableRow } from '../../../api/schema/table.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import { type Sliced, TimeSlice } from '../../../base/concurrency/time-slice.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import { type EventForm, type EventType, eventWith, jsonEvents } from '../../../storage/cache/event.ts'
import type { Resource } from '../../registry/catalogue/resource.ts'
import type { Virtual } from '../../registry/catalogue/served.ts'
import {
  formOf,
  isAsStored,
  preparing,
  readMetadata,
  readMetadataSliced,
  readVersion,
  readVersionSliced,
} from '../../registry/reads/conversion.ts'
import type { Form } from './forms.ts'
import { partialObjects } from './protobuf-form.ts'

export const viewNames = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const

export type ViewName = (typeof viewNames)[number]

export interface Projection {
  readonly as: ViewName
  /** The API group that the client requests, from the media type parameter `g`. */
  readonly group: string
  readonly version: string
}

const versions = ['v1', 'v1beta1']
/**
 * The meta API groups of all profiles. Every profile accepts all of them, so that kubectl can show columns from any
 * server.
 */
const groups = profileNames.map((profile) => groupName(vendorOf(profile), 'meta'))

/** Returns the projection for the media type parameters, or undefined if the projection does not exist. */
export function findProjection(as: string, group: string, version: string): Projection | undefined {
  const name = viewNames.find((candidate) => candidate === as)
  if (name === undefined || !groups.includes(group) || !versions.includes(version)) return undefined
  return { as: name, group, version }
}

/** Resource types that support projections: stored objects and generated responses. */
export type Viewed = Resource | Virtual

export interface View<T extends Viewed = Viewed> {
  readonly resource: T
  readonly projection: Projection
  /** The part of each object that a table row contains: nothing, the metadata or everything. */
  readonly include: 'None' | 'Metadata' | 'Object'
}

/** Prepares a projection for a resource type. Throws 400 if the query parameter `includeObject` is invalid. */
export function openView<T extends Viewed>(resource: T, projection: Projection, query: URLSearchParams): View<T> {
  const include = query.get('includeObject') || 'Metadata'
  if (projection.as === 'Table' && include !== 'None' && include !== 'Metadata' && include !== 'Object') {
    throw badRequest(
      `unable to convert to Table: includeObject ${JSON.stringify(shorten(include, 50))} must be 'Metadata', 'Object', 'None' or empty`,
    )
  }
  return { resource, projection, include: include as View['include'] }
}

/** Returns a response format that projects every object and list before encoding it like `form`. */
export function projectedForm(form: Form, view: View): Form {
  return {
    mediaType: form.mediaType,
    streamType: form.streamType,
    encode: async (json, documentWorker) => {
      const projected = await new TimeSlice().run(projectSliced(view, json))
      return form.encode === undefined ? projected : await form.encode(projected, documentWorker)
    },
    openList: form.openList,
    view: {
      list: (list) => projectList(view, list),
      item: (object) => projectItem(view, object),
      order: itemOrder(view),
      metadataOnly: view.projection.as !== 'Table',
    },
    shared: form.shared && partialObjects(view.projection.as, metaVersion(view), view.projection.version),
  }
}

/** Projects a JSON document, and yields periodically. */
function* projectSliced(view: View, json: Buffer): Sliced<Buffer> {
  const value = yield* parseOwnSliced(json)
  if (!isObject(value) || value.kind === 'Status') return json
  return Buffer.from(`${yield* textSliced(project(view, value), shownOrder(view))}\n`)
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
    kind: as,
    apiVersion: metaVersion(view),
    metadata: listMetadata(value, true),
    items: items.map((item) => partial(view, item)),
  }
}

function mismatch(as: string, why: string): ApiError {
  return new ApiError(406, 'NotAcceptable', `you requested ${as}, but the requested object ${why}`)
}

function withType({ resource }: View, item: Json): ApiObject {
  return asObject({ apiVersion: resource.apiVersion, kind: resource.kind.kind, ...(item as JsonObject) })
}

/** Returns the order in which the members of a table row or list item are written. */
function itemOrder(view: View): Order {
  return view.projection.as === 'Table' ? rowOrder(rowType(view)) : partialObjectMetadata
}

/** Returns the order in which the members of the projected document are written. */
function shownOrder(view: View): Order {
  const { as } = view.projection
  if (as === 'Table') return tableOrder(rowType(view))
  return as === 'PartialObjectMetadata' ? partialObjectMetadata : partialList
}

const rowOrder = memoizeByObject(tableRow)
const tableOrder = memoizeByObject(tableOf)
const partialList = partialObjectMetadataList('v1')
const unordered = s.any()

/** Returns the schema for the object inside a table row, which determines its member order. */
function rowType({ include, resource }: View): Schema {
  return include === 'Object' ? (orderOf(resource.kind) ?? unordered) : partialObjectMetadata
}

function listMetadata({ metadata }: JsonObject, isList: boolean): JsonObject {
  if (!isObject(metadata)) return {}
  return isList
    ? inListOrder(metadata)
    : { ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }) }
}

function inListOrder({ resourceVersion, continue: token, remainingItemCount }: JsonObject): JsonObject {
  return defined({ resourceVersion, continue: token || undefined, remainingItemCount })
}

function metaVersion({ projection: { group, version } }: View): string {
  return `${group}/${version}`
}

function partial(view: View, { metadata }: ApiObject): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion(view), metadata: asJson(metadata) }
}

function table(view: View, objects: readonly ApiObject[], metadata: JsonObject, withColumns: boolean): JsonObject {
  const columns = columnsOf(view)
  return {
    kind: 'Table',
    apiVersion: metaVersion(view),
    metadata,
    columnDefinitions: withColumns ? columns.map(columnDefinition) : [],
    rows: objects.map((object) => rowOf(view, object)),
  }
}

function columnDefinition({ name, type, format, description, priority }: Column): JsonObject {
  return { name, type, format, description, priority }
}

/**
 * Returns the resource that defines the table columns: the storage version, or the view itself if it shows another
 * kind, such as Scale.
 */
function tabulated({ resource }: View): Viewed {
  const { stored, kind } = resource
  return stored === undefined || stored.kind.kind !== kind.kind ? resource : stored
}

/**
 * Returns a table row. The cells are computed from the stored version. Only `includeObject=Object` returns the
 * requested version of the object.
 */
function rowOf(view: View, object: ApiObject): JsonObject {
  const isStored = tabulated(view) !== view.resource
  const stored = isStored ? inStoredForm(view.resource, object) : object
  return { cells: cellsOf(view, stored), ...conditionsOf(view, stored), object: rowObject(view, object, stored) }
}

function conditionsOf(view: View, stored: ApiObject): JsonObject {
  const conditions = tabulated(view).kind.views.rowConditions?.(stored) ?? []
  return conditions.length === 0 ? {} : { conditions: conditions.map((one) => ({ ...one })) }
}

function columnsOf(view: View): readonly Column[] {
  return tabulated(view).kind.views.columns ?? defaultColumns
}

function cellsOf(view: View, stored: ApiObject): Json[] {
  const { clock, vendor } = view.resource
  const now = clock.now()
  return columnsOf(view).map((column) => shown(column.cell(stored, now, vendor)))
}

/** Returns the text of a cell without control characters, which could manipulate the user's terminal. */
function shown(cell: Json): Json {
  return typeof cell === 'string' ? cell.replaceAll(/\p{Cc}/gu, ' ') : cell
}

function rowObject(view: View, object: ApiObject, stored: ApiObject): JsonObject | null {
  if (view.include === 'None') return null
  return view.include === 'Object' ? asJson(object) : partial(view, withoutKept(view, stored))
}

/** Removes annotations that exist only for clients of older versions. */
function withoutKept({ resource }: View, object: ApiObject): ApiObject {
  const { rowsWithout } = resource.kind.views
  const { annotations, ...metadata } = object.metadata
  if (annotations === undefined || rowsWithout === undefined) return object
  const shownAnnotations = Object.entries(annotations).filter(([key]) => !rowsWithout.includes(key))
  return {
    ...object,
    metadata:
      shownAnnotations.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(shownAnnotations) },
  }
}

/**
 * Returns the encoding of watch events as projections. In tables, only the first event contains the column definitions.
 */
export function projectedEvents(view: View<Resource>): EventForm {
  const name = `${formOf(view.resource)} ${view.projection.as} ${metaVersion(view)} ${view.include}`
  if (view.projection.as !== 'Table') return metadataEvents(view, name)
  const shown = (columns: 'columns' | 'rows'): Shown => ({
    show: (object) => tableOfOne(view, readVersion(view.resource, object), columns),
    *showSliced(object) {
      return tableOfOne(view, yield* readVersionSliced(view.resource, object), columns)
    },
    bookmark: (document) => bookmarkTable(view, document, columns),
  })
  const rest = { ...eventForm(view, `${name} rest`, shown('rows')), ...preparing(view.resource) }
  return { ...rest, ...eventForm(view, `${name} first`, shown('columns')), rest }
}

/** Returns events that contain only the metadata, if possible without parsing the objects. */
function metadataEvents(view: View<Resource>, name: string): EventForm {
  const parsed = eventForm(view, name, {
    show: (object) => partial(view, readMetadata(view.resource, object)),
    *showSliced(object) {
      return partial(view, yield* readMetadataSliced(view.resource, object))
    },
    bookmark: (document) => partial(view, asObject(document)),
  })
  if (!isAsStored(view.resource)) return parsed
  const start = Buffer.from(
    `{"kind":"PartialObjectMetadata","apiVersion":${JSON.stringify(metaVersion(view))},"metadata":`,
  )
  const encodeText = (type: EventType, { json }: CachedObject) => {
    const metadata = metadataText(json)
    return metadata && eventWith(type, Buffer.concat([start, metadata, endOfDocument]))
  }
  return {
    ...parsed,
    encode: (type, object) => encodeText(type, object) ?? parsed.encode(type, object),
    *encodeSliced(type, object) {
      return encodeText(type, object) ?? (yield* parsed.encodeSliced(type, object))
    },
  }
}

const endOfDocument = Buffer.from('}\n')

/** Functions that project the objects and bookmarks in watch events. */
interface Shown {
  readonly show: (object: CachedObject) => JsonObject
  readonly showSliced: (object: CachedObject) => Sliced<JsonObject>
  readonly bookmark: (document: JsonObject) => JsonObject
}

function eventForm(view: View, name: string, { show, showSliced, bookmark }: Shown) {
  const order = shownOrder(view)
  const write = (type: EventType | 'BOOKMARK', shown: JsonObject) => eventWith(type, jsonDocument(shown, order))
  return {
    name,
    encode: (type, object) => write(type, show(object)),
    *encodeSliced(type, object) {
      return eventWith(type, Buffer.from(`${yield* textSliced(yield* showSliced(object), order)}\n`))
    },
    encodeBookmarkOrError: (type, document) =>
      type === 'BOOKMARK' ? write(type, bookmark(document)) : jsonEvents.encodeBookmarkOrError(type, document),
  } satisfies EventForm
}

/**
 * Returns a bookmark as a table. The Table itself has a resourceVersion, so it needs no row. Only a bookmark with
 * annotations has a row, because the row contains the annotations.
 */
function bookmarkTable(view: View, document: JsonObject, shown: 'columns' | 'rows'): JsonObject {
  const bookmark = asObject(document)
  return bookmark.metadata.annotations === undefined
    ? table(view, [], listMetadata(document, false), false)
    : tableOfOne(view, bookmark, shown)
}

/** Returns a Table with one row, with or without column definitions. */
function tableOfOne(view: View, object: ApiObject, shown: 'columns' | 'rows'): JsonObject {
  return table(view, [object], listMetadata(asJson(object), false), shown === 'columns')
}
