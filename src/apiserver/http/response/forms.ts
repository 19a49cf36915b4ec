/**
 * The forms in which an answer can be written. Each starts from the JSON that the server holds already, or, for lists,
 * from one object after the other: a list may be longer than what fits into memory or into a turn of the event loop.
 */
import { type DocumentWorker, largeDocument } from '../../../api/codec/document-worker.ts'
import { parseOwnJson, stringifyJson } from '../../../api/codec/json.ts'
import type { Order } from '../../../api/codec/member-order.ts'
import type { DocumentType } from '../../../api/codec/protobuf/envelope.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'

export interface Form {
  readonly mediaType: string
  /** What a stream of events in this form is called; undefined: there is none. */
  readonly streamType: string | undefined
  /**
   * From compact JSON to this form; undefined when that is the form. Loads what it needs on first use. Large documents
   * are converted in another thread, where there is one.
   */
  readonly encode: ((json: Buffer, documentWorker: DocumentWorker | undefined) => Promise<Buffer>) | undefined
  /** Writes lists of this form. `list` has everything but the items, which belong into the empty array `member`. */
  readonly openList: (list: JsonObject, member: string) => Promise<ListText>
  /** What is shown in place of objects and lists; undefined: they themselves. */
  readonly view: ListView | undefined
  /** Where stored objects are written from messages that all readers share, and not from their JSON. */
  readonly shared: SharedForm | undefined
}

/** What is shown of stored objects whose messages are shared. */
export interface SharedForm {
  /** One object; undefined where only lists are shown. */
  readonly one: MessageType | undefined
  /** A list; undefined where only single objects are shown. */
  readonly list: MessageType | undefined
  /** Whether the whole object is shown, else its metadata. */
  readonly whole: boolean
}

export interface MessageType {
  readonly type: DocumentType
  readonly schema: ObjectSchema
}

/** The text of a list, around its items. */
export interface ListText {
  readonly before: string
  readonly between: string
  readonly after: string
  /** `order` is by what its members are ordered, where the form keeps an order of its own for types. */
  item(item: JsonObject, order: Order): string
}

export interface ListView {
  /** What is shown in place of a list that has no items yet, and where in it they belong. */
  list(list: JsonObject): { readonly shown: JsonObject; readonly member: string }
  item(object: ApiObject): JsonObject
  /** By what the members of the items are ordered. */
  readonly order: Order
  /** Whether no more of an object is shown than its metadata. */
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
  }),
  view: undefined,
  shared: undefined,
}

/** Indented, for people. */
export const prettyForm: Form = {
  mediaType: 'application/json',
  streamType: undefined,
  encode: async (json, documentWorker) => {
    if (documentWorker !== undefined && json.length > largeDocument) return await documentWorker.write('indent', json)
    const { indentText } = await import('../../../api/codec/indent-json.ts')
    return Buffer.from(indentText(json.toString('utf8')))
  },
  openList: async (list, member) => {
    const { indentText } = await import('../../../api/codec/indent-json.ts')
    return {
      ...around(indentText(listDocument(list)), `"${member}": []`, { open: `"${member}": [\n    `, close: '\n  ]' }),
      between: ',\n    ',
      item: (item, order) => indentText(stringifyJson(item, order), '    '),
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
  openList: async (list, member) => {
    const { stringifyYaml } = await import('../../../api/codec/write-yaml.ts')
    return {
      ...around(stringifyYaml(list), `${member}: []\n`, { open: `${member}:\n`, close: '' }),
      between: '',
      // Lists are not indented, so an item of the list stands there as it would by itself.
      item: (item) => stringifyYaml([item]),
    }
  },
  view: undefined,
  shared: undefined,
}

/** A list without its items, or what shows one. It is made by the server, with its members in their order. */
export function listDocument(list: JsonObject): string {
  return `${JSON.stringify(list)}\n`
}

/** Parts a text where the empty array stands. Nothing in a list beside its items can look like it. */
function around(text: string, empty: string, { open, close }: { open: string; close: string }) {
  const at = text.indexOf(empty)
  return { before: text.slice(0, at) + open, after: close + text.slice(at + empty.length) }
}
