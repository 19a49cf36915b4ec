/**
 * The response formats. Each format converts the JSON that the server has in memory. Lists are converted object by
 * object, because converting a long list as a whole would exhaust memory or block the event loop.
 */
import { type DocumentWorker, largeDocument } from '../../../api/codec/document-worker.ts'
import { parseOwnJson, stringifyJson } from '../../../api/codec/json.ts'
import type { Order } from '../../../api/codec/member-order.ts'
import type { DocumentType } from '../../../api/codec/protobuf/envelope.ts'
import { textSliced } from '../../../api/codec/sliced-json.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { type Sliced, waitFor } from '../../../base/concurrency/time-slice.ts'

export interface Form {
  readonly mediaType: string
  /** The media type of an event stream. Undefined if the format does not support watches. */
  readonly streamType: string | undefined
  /**
   * Converts compact JSON to this format. Undefined if the format is compact JSON. The format's dependencies are loaded
   * on first use. If the server has a worker thread, that thread converts large documents.
   */
  readonly encode: ((json: Buffer, documentWorker: DocumentWorker | undefined) => Promise<Buffer>) | undefined
  /** Returns the text around the items of a list. `list` has no items. `member` is the name of its items array. */
  readonly openList: (list: JsonObject, member: string, documentWorker: DocumentWorker | undefined) => Promise<ListText>
  /** The projection of objects and lists, such as a Table. Undefined if they are sent unchanged. */
  readonly view: ListView | undefined
  /** Set if stored objects are encoded from cached Protobuf messages rather than from their JSON. */
  readonly shared: SharedForm | undefined
}

/** The document types in which stored objects are sent from cached Protobuf messages. */
export interface SharedForm {
  /** The type of a document with a single object. Undefined if the format supports only lists. */
  readonly one: MessageType | undefined
  /** The type of a list document. Undefined if the format supports only single objects. */
  readonly list: MessageType | undefined
  /** Whether to send whole objects. If false, only their metadata is sent. */
  readonly whole: boolean
}

export interface MessageType {
  readonly type: DocumentType
  readonly schema: ObjectSchema
}

/** The text before and after the items of a list. */
export interface ListText {
  readonly before: string
  readonly between: string
  readonly after: string
  /**
   * Returns the text of a list item. `order` defines the order of the item's members if the format sorts members by
   * type.
   */
  item(item: JsonObject, order: Order): string
  /** Returns the same text as `item`, but yields periodically. Used for items that may be large. */
  itemSliced(item: JsonObject, order: Order): Sliced<string>
}

export interface ListView {
  /** Projects a list without its items. Also returns the name of the array for the items, such as `rows`. */
  list(list: JsonObject): { readonly shown: JsonObject; readonly member: string }
  item(object: ApiObject): JsonObject
  /** The order in which the members of a list item are written. */
  readonly order: Order
  /** Whether the projection needs only the metadata of the objects. */
  readonly metadataOnly: boolean
}

export const jsonForm: Form = {
  mediaType: 'application/json',
  streamType: 'application/json',
  encode: undefined,
  openList: async (list, member) => ({
    ...around(listDocument(list), `"${member}":[]`, { open: `"${member}":[`, close: ']' }),
    between: ',',
    item: (item, order) => stringifyJson(item, order),
    itemSliced: textSliced,
  }),
  view: undefined,
  shared: undefined,
}

/** The indentation of list items in indented JSON. */
const itemMargin = '    '

/** The format for indented JSON. */
export const prettyForm: Form = {
  mediaType: 'application/json',
  streamType: undefined,
  encode: async (json, documentWorker) => {
    if (documentWorker !== undefined && json.length > largeDocument) return await documentWorker.write('indent', json)
    const { indentText } = await import('../../../api/codec/indent-json.ts')
    return Buffer.from(indentText(json.toString('utf8')))
  },
  openList: async (list, member, documentWorker) => {
    const { indentText } = await import('../../../api/codec/indent-json.ts')
    const item: ListText['item'] = (value, order) => indentText(stringifyJson(value, order), itemMargin)
    return {
      ...around(indentText(listDocument(list)), `"${member}": []`, { open: `"${member}": [\n    `, close: '\n  ]' }),
      between: ',\n    ',
      item,
      *itemSliced(value, order) {
        if (documentWorker === undefined) return item(value, order)
        const json = Buffer.from(yield* textSliced(value, order))
        const indented = yield* waitFor(documentWorker.write('indent', json))
        // Strings in JSON contain no line breaks.
        return indented.toString('utf8').replaceAll('\n', `\n${itemMargin}`)
      },
    }
  },
  view: undefined,
  shared: undefined,
}

export const yamlForm: Form = {
  mediaType: 'application/yaml',
  streamType: undefined,
  encode: async (json, documentWorker) => {
    if (documentWorker !== undefined && json.length > largeDocument)
      return await documentWorker.write('write YAML', json)
    const { stringifyYaml } = await import('../../../api/codec/write-yaml.ts')
    return Buffer.from(stringifyYaml(parseOwnJson(json)))
  },
  openList: async (list, member, documentWorker) => {
    const { stringifyYaml } = await import('../../../api/codec/write-yaml.ts')
    // YAML arrays are not indented, so an item can be converted by itself.
    const item: ListText['item'] = (value) => stringifyYaml([value])
    return {
      ...around(stringifyYaml(list), `${member}: []\n`, { open: `${member}:\n`, close: '' }),
      between: '',
      item,
      *itemSliced(value, order) {
        if (documentWorker === undefined) return item(value, order)
        const json = Buffer.from(`[${yield* textSliced(value, order)}]`)
        return (yield* waitFor(documentWorker.write('write YAML', json))).toString('utf8')
      },
    }
  },
  view: undefined,
  shared: undefined,
}

/** Returns the JSON of a list without items, in the order of its members. */
export function listDocument(list: JsonObject): string {
  return `${JSON.stringify(list)}\n`
}

/** Splits the text of a list without items at its empty array. */
function around(text: string, empty: string, { open, close }: { open: string; close: string }) {
  const at = text.indexOf(empty)
  return { before: text.slice(0, at) + open, after: close + text.slice(at + empty.length) }
}
