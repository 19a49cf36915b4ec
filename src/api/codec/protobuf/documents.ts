/**
 * Documents in Protobuf for programs that speak the API: objects and lists of the kinds that are given, Statuses, the
 * options of a delete, discovery, and the events of a watch. What comes in is read as the same JSON would be. It is what the client
 * (`client/requests/content-form.ts`) is given by a caller who wants Protobuf; custom resources have no such form and stay JSON.
 */
import { WireError, WireReader } from '../../../wire/protobuf/protobuf-wire.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { apiVersionOf, type Vendor } from '../../model/vendor.ts'
import { decode } from '../../schema/decode.ts'
import type { Kind } from '../../schema/kind.ts'
import * as meta from '../../schema/meta-types.ts'
import type { ObjectSchema } from '../../schema/schema.ts'
import { open, seal } from './envelope.ts'
import { readMessage } from './read.ts'
import { writeMessage } from './write.ts'

/** What discovery answers with, by kind. */
export const discoveryTypes = {
  APIVersions: meta.apiVersions,
  APIGroup: meta.apiGroup,
  APIGroupList: meta.apiGroupList,
  APIResourceList: meta.apiResourceList,
}

/** Those that are the same in every group. */
const sharedTypes = new Map<string, ObjectSchema>(
  Object.entries({ ...discoveryTypes, Status: meta.status, DeleteOptions: meta.deleteOptions }),
)

export interface StreamedEvent {
  readonly type: string
  readonly object: JsonObject
}

const lengthBytes = 4
/** More than any object that a server of ours stores. */
const maxFrameBytes = 16 * 1024 * 1024

/** Reads and writes documents of the kinds that it is given. */
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

  /** Undefined for a document that has no such form. */
  write(document: JsonObject): Buffer | undefined {
    const type = { apiVersion: String(document.apiVersion ?? ''), kind: String(document.kind ?? '') }
    const schema = this.#find(type.apiVersion, type.kind)
    if (schema === undefined) return undefined
    const { value } = decode(schema, document)
    return seal(type, writeMessage(schema, value as JsonObject, { vendor: this.#vendor }))
  }

  /** Throws WireError for what is no document of a type that is known. */
  read(bytes: Uint8Array): JsonObject {
    const { apiVersion, kind, message } = open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const schema = this.#find(apiVersion, kind)
    if (schema === undefined) throw new WireError(`no Protobuf form is known of ${kind} in ${apiVersion}`)
    const value: { [key: string]: Json | undefined } = readMessage(schema, message, this.#vendor)
    return { apiVersion, kind, ...(decode(schema, value).value as JsonObject) }
  }

  /** The events of a watch; what is left without an end was cut off and is dropped. */
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

/** Frames without their lengths. Parts of one are put together once it is whole. */
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

/** Where the first frame ends, as far as that is known. */
function frameEnd(bytes: Buffer): number {
  if (bytes.length < lengthBytes) return lengthBytes
  const end = lengthBytes + bytes.readUInt32BE(0)
  if (end > maxFrameBytes) throw new WireError(`an event of a watch is longer than ${maxFrameBytes} bytes`)
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
