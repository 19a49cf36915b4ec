/**
 * Responses in Protobuf. Generated documents are converted from their JSON. Stored objects are written from messages
 * that all readers share (apiserver/registry/reads/messages.ts), each in an envelope for the whole object or for only
 * its metadata.
 */

import { parseOwnJson } from '../../../api/codec/json.ts'
import { discoveryTypes } from '../../../api/codec/protobuf/documents.ts'
import { type DocumentType, seal } from '../../../api/codec/protobuf/envelope.ts'
import { frameOf } from '../../../api/codec/protobuf/watch-frame.ts'
import { writeMessage } from '../../../api/codec/protobuf/write.ts'
import type { JsonObject } from '../../../api/json/json.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Kind } from '../../../api/schema/kind.ts'
import * as meta from '../../../api/schema/meta-types.ts'
import {
  type PartialVersion,
  partialObjectMetadata,
  partialObjectMetadataList,
} from '../../../api/schema/partial-metadata.ts'
import type { ObjectSchema } from '../../../api/schema/schema.ts'
import { memoizeByObject } from '../../../base/collections/memoize-by-object.ts'
import type { CachedObject } from '../../../storage/cache/cached-object.ts'
import type { EncodedObject } from '../../../storage/cache/encoded-objects.ts'
import type { EventForm } from '../../../storage/cache/event.ts'
import { WireReader } from '../../../wire/protobuf/protobuf-wire.ts'
import type { Resource, ServedType } from '../../registry/catalogue/resource.ts'
import {
  findMessage,
  lastMessageOf,
  lastMessageSliced,
  messageOf,
  messageSliced,
} from '../../registry/reads/messages.ts'
import type { Form, MessageType, SharedForm } from './forms.ts'

/** The Protobuf schemas by kind. */
interface Types {
  readonly [kind: string]: ObjectSchema | ((version: string) => ObjectSchema)
}

/** Returns the Protobuf format for errors. Any request can result in an error. */
export function protobufStatus(vendor: Vendor): Form {
  return formOf(vendor, {})
}

export function protobufDiscovery(vendor: Vendor): Form {
  return formOf(vendor, discoveryTypes)
}

/** Returns the Protobuf format for objects and lists of a kind. */
export function protobufObjects(vendor: Vendor, kind: Kind): Form {
  return formOf(vendor, { [kind.kind]: kind.schema, [`${kind.kind}List`]: () => meta.listOf(kind) })
}

/**
 * Returns the Protobuf format of a served type, which writes stored objects from shared messages. The format is cached
 * per type.
 */
export const protobufOf = memoizeByObject(
  (served: ServedType): Form =>
    served.endpoint === undefined ? sharing(served) : protobufObjects(served.vendor, served.kind),
)

function sharing({ vendor, apiVersion, kind }: Resource): Form {
  return { ...protobufObjects(vendor, kind), shared: wholeObjects({ apiVersion, kind: kind.kind }, kind) }
}

const commonTypes: Types = {
  Status: meta.status,
  PartialObjectMetadata: partialObjectMetadata,
  PartialObjectMetadataList: (version) => partialObjectMetadataList(version as PartialVersion),
}

function formOf(vendor: Vendor, own: Types): Form {
  const types = { ...own, ...commonTypes }
  const mediaType = vendor.protobufMediaType
  return {
    mediaType,
    streamType: `${mediaType};stream=watch`,
    encode: async (json) => documentOf(types, parseOwnJson(json) as JsonObject, vendor),
    openList: () => {
      throw new TypeError('Protobuf lists must be built from cached Protobuf messages')
    },
    view: undefined,
    shared: undefined,
  }
}

function documentOf(types: Types, document: JsonObject, vendor: Vendor): Buffer {
  const type = { apiVersion: String(document.apiVersion ?? ''), kind: String(document.kind ?? '') }
  const typeSchema = Object.hasOwn(types, type.kind) ? types[type.kind] : undefined
  if (typeSchema === undefined) throw new TypeError(`${type.kind} has no Protobuf encoding`)
  const schema = typeof typeSchema === 'function' ? typeSchema(type.apiVersion.replace(/^.*\//, '')) : typeSchema
  return seal(type, writeMessage(schema, document, { vendor }))
}

function wholeObjects(one: DocumentType, kind: Kind): SharedForm {
  const list = { type: { ...one, kind: `${one.kind}List` }, schema: meta.listOf(kind) }
  return { one: { type: one, schema: kind.schema }, list, whole: true }
}

/**
 * Returns the form that encodes only the metadata of objects. `as` is the kind that the client requests: a single
 * PartialObjectMetadata or a list.
 */
export function partialObjects(as: string, apiVersion: string, version: string): SharedForm {
  const one = { type: { apiVersion, kind: 'PartialObjectMetadata' }, schema: partialObjectMetadata }
  const type = { apiVersion, kind: 'PartialObjectMetadataList' }
  const list = { type, schema: partialObjectMetadataList(version as PartialVersion) }
  return as === one.type.kind ? { one, list: undefined, whole: false } : { one: undefined, list, whole: false }
}

/** Returns the offset up to which an encoded object is sent: the end of the object, or of its metadata. */
export function endOf({ whole }: SharedForm, form: EncodedObject): number {
  return whole ? form.end : metadataEnd(form)
}

/**
 * Returns the end offset of the metadata. Metadata is the first field of every object's message, so the bytes up to
 * this offset form a valid PartialObjectMetadata message.
 */
function metadataEnd({ document, start, end }: EncodedObject): number {
  const reader = new WireReader(document.subarray(start, end))
  if (reader.next() !== 1) throw new TypeError('the Protobuf message does not begin with the metadata field')
  const metadata = reader.view()
  return metadata.byteOffset + metadata.byteLength - document.byteOffset
}

/** Returns the Protobuf document for one object. */
export function documentFor(shared: SharedForm, { type }: MessageType, form: EncodedObject): Buffer {
  return shared.whole ? form.document : seal(type, form.document.subarray(form.start, endOf(shared, form)))
}

/**
 * Returns the Protobuf encoding of watch events. Each event contains one object, even if the client requested a list
 * kind.
 */
export function protobufEvents(resource: Resource, shared: SharedForm): EventForm {
  const one = shared.one ?? partialObjects('PartialObjectMetadata', shared.list!.type.apiVersion, 'v1').one!
  const { type, schema } = one
  const read = (eventType: string, object: CachedObject) =>
    eventType === 'DELETED' ? lastMessageOf(resource, object) : messageOf(resource, object)
  return {
    name: `protobuf ${resource.apiVersion} ${type.apiVersion} ${type.kind}`,
    *encodeSliced(eventType, object) {
      const message =
        eventType === 'DELETED'
          ? yield* lastMessageSliced(resource, object)
          : (findMessage(resource, object) ?? (yield* messageSliced(resource, object)))
      return frameOf(eventType, documentFor(shared, one, message))
    },
    encode: (eventType, object) => frameOf(eventType, documentFor(shared, one, read(eventType, object))),
    encodeBookmarkOrError: (eventType, document) =>
      frameOf(
        eventType,
        document.kind === 'Status'
          ? seal({ apiVersion: 'v1', kind: 'Status' }, writeMessage(meta.status, document))
          : seal(type, writeMessage(schema, document)),
      ),
  }
}
