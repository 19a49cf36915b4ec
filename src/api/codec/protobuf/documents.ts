/**
 * Encodes and decodes Protobuf documents for API clients: objects and lists of the given kinds, Status objects, delete
 * options, discovery documents, and watch events. A decoded document is treated like the same document in JSON. To use
 * Protobuf, callers pass an instance to the client (`client/requests/content-form.ts`). Custom resources have no
 * Protobuf encoding and are sent as JSON.
 */
import { WireError, WireReader } from '../../../wire/protobuf/protobuf-wire.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { apiVersionOf, type Vendor } from '../../model/vendor.ts'
import { decode } from '../../schema/decode.ts'
import { apiGroupDiscoveryList } from '../../schema/discovery-types.ts'
import type { Kind } from '../../schema/kind.ts'
import * as meta from '../../schema/meta-types.ts'
import type { ObjectSchema } from '../../schema/schema.ts'
import { open, seal } from './envelope.ts'
import { readMessage } from './read.ts'
import { writeMessage } from './write.ts'

/** Schemas of discovery documents, by kind. */
export const discoveryTypes = {
  APIVersions: meta.apiVersions,
  APIGroup: meta.apiGroup,
  APIGroupList: meta.apiGroupList,
  APIGroupDiscoveryList: apiGroupDiscoveryList,
  APIResourceList: meta.apiResourceList,
}

/** Schemas of types that have the same name and fields in every API group, by kind. */
const sharedTypes = new Map<string, ObjectSchema>(
  Object.entries({ ...discoveryTypes, Status: meta.status, DeleteOptions: meta.deleteOptions }),
)

export interface StreamedEvent {
  readonly type: string
  readonly object: JsonObject
}

const lengthBytes = 4
/** Maximum size of a frame in bytes, well above the size of any stored object. */
const maxFrameBytes = 16 * 1024 * 1024

/** Encodes and decodes documents of the given kinds. */
export class ProtobufDocuments {
  readonly mediaType: string
  readonly #vendor: Vendor
  readonly #types = new Map<string, ObjectSchema>()

  constructor(vendor: Vendor, kinds: readonly Pick<Kind, 'group' | 'version' | 'kind' | 'schema'>[]) {
    this.mediaType = vendor.protobufMediaType
    this.#vendor = vendor
    for (const kind of kinds) {
      const apiVersion = apiVersionOf(vendor, kind.group, kind.version)
      this.#types.set(`${apiVersion} ${kind.kind}`, kind.schema)
      this.#types.set(`${apiVersion} ${kind.kind}List`, meta.listOf(kind))
    }
  }

  /** Encodes a document. Returns undefined if the document has no Protobuf encoding. */
  write(document: JsonObject): Buffer | undefined {
    const type = { apiVersion: String(document.apiVersion ?? ''), kind: String(document.kind ?? '') }
    const schema = this.#find(type.apiVersion, type.kind)
    if (schema === undefined) return undefined
    const { value } = decode(schema, document)
    return seal(type, writeMessage(schema, value as JsonObject, { vendor: this.#vendor }))
  }

  /** Decodes a document. Throws WireError if the bytes are not a document of a known type. */
  read(bytes: Uint8Array): JsonObject {
    const { apiVersion, kind, message } = open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const schema = this.#find(apiVersion, kind)
    if (schema === undefined) throw new WireError(`${kind} in ${apiVersion} has no Protobuf encoding`)
    const value: { [key: string]: Json | undefined } = readMessage(schema, message, this.#vendor)
    return { apiVersion, kind, ...(decode(schema, value).value as JsonObject) }
  }

  /** Yields the events of a watch. An incomplete event at the end is dropped. */
  async *readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent> {
    for await (const frame of framesIn(chunks)) yield this.#readEvent(frame)
  }

  #readEvent(bytes: Buffer): StreamedEvent {
    const reader = new WireReader(bytes)
    let type = ''
    let document: Uint8Array = bytes.subarray(0, 0)
    for (let field = reader.next(); field !== 0; field = reader.next()) {
      if (field === 1) type = reader.string()
      else if (field === 2) document = rawOf(reader.message())
      else reader.skip()
    }
    return { type, object: this.read(document) }
  }

  #find(apiVersion: string, kind: string): ObjectSchema | undefined {
    return sharedTypes.get(kind) ?? this.#types.get(`${apiVersion} ${kind}`)
  }
}

/** Yields the frames of a stream without their length fields. Yields each frame as soon as it is complete. */
async function* framesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = []
  let size = 0
  let needed = lengthBytes
  for await (const chunk of chunks) {
    parts.push(chunk)
    size += chunk.length
    if (size < needed) continue
    let rest = Buffer.concat(parts)
    for (needed = frameEnd(rest); rest.length >= needed && rest.length >= lengthBytes; needed = frameEnd(rest)) {
      yield rest.subarray(lengthBytes, needed)
      rest = rest.subarray(needed)
    }
    parts = [rest]
    size = rest.length
  }
}

/**
 * Returns the end offset of the first frame. If the length field of the frame is incomplete, returns the end offset of
 * that field.
 */
function frameEnd(bytes: Buffer): number {
  if (bytes.length < lengthBytes) return lengthBytes
  const end = lengthBytes + bytes.readUInt32BE(0)
  if (end > maxFrameBytes) throw new WireError(`a watch event is longer than ${maxFrameBytes} bytes`)
  return end
}

function rawOf(reader: WireReader): Uint8Array {
  let raw: Uint8Array = new Uint8Array()
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) raw = reader.view()
    else reader.skip()
  }
  return raw
}
