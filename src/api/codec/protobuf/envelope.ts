/**
 * The envelope of a Protobuf document: four magic bytes, followed by the message `Unknown`, which contains the type of
 * the document and the encoded document.
 */
import { WireError, WireReader, WireWriter } from '../../../wire/protobuf/protobuf-wire.ts'

/** apiVersion and kind of a document, each '' if missing. */
export interface DocumentType {
  readonly apiVersion: string
  readonly kind: string
}

export interface Envelope extends DocumentType {
  readonly message: Uint8Array
}

const prefix = Buffer.from([0x6b, 0x38, 0x73, 0x00])
/** The end of every envelope: an empty content encoding and an empty content type. */
const end = Buffer.from([0x1a, 0, 0x22, 0])

/** Returns the bytes that precede and follow a message in its envelope. `length` is the size of the message. */
export function envelopeOf({ apiVersion, kind }: DocumentType, length: number): { before: Buffer; after: Buffer } {
  const writer = new WireWriter(prefix.length)
  writer.message(1, (type) => {
    type.string(1, apiVersion)
    type.string(2, kind)
  })
  writer.lengthOf(2, length)
  const before = writer.finish()
  prefix.copy(before)
  return { before, after: end }
}

/** Wraps a message in an envelope with the given type. */
export function seal(type: DocumentType, message: Buffer): Buffer {
  const { before, after } = envelopeOf(type, message.length)
  return Buffer.concat([before, message, after])
}

/** Decodes an envelope. Throws WireError if the bytes are not an envelope. */
export function open(bytes: Buffer): Envelope {
  if (bytes.length === 0) throw new WireError('the message is empty')
  if (!bytes.subarray(0, prefix.length).equals(prefix)) throw new WireError('the prefix 6b 38 73 00 is missing')
  const reader = new WireReader(bytes.subarray(prefix.length))
  let type: DocumentType = { apiVersion: '', kind: '' }
  let message: Uint8Array = new Uint8Array()
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) type = readType(reader.message(), type)
    else if (field === 2) message = reader.view()
    else if (field === 3) refuse('contentEncoding', reader.string())
    else if (field === 4) refuse('contentType', reader.string())
    else skip(reader, field)
  }
  return { ...type, message }
}

function readType(reader: WireReader, before: DocumentType): DocumentType {
  let { apiVersion, kind } = before
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) apiVersion = reader.string()
    else if (field === 2) kind = reader.string()
    else skip(reader, field)
  }
  return { apiVersion, kind }
}

function refuse(name: string, value: string): void {
  if (value !== '' && !isProtobuf(name, value))
    throw new WireError(`${name} ${JSON.stringify(value.slice(0, 50))} is not accepted`)
}

/** Whether a content encoding or content type is empty or Protobuf. */
function isProtobuf(name: string, value: string): boolean {
  return name === 'contentType' && /^application\/vnd\.[a-z]+\.protobuf$/.test(value)
}

function skip(reader: WireReader, field: number): void {
  if (reader.wireType === 3 || reader.wireType === 4)
    throw new WireError(`field ${field} is a group, which is not supported`)
  reader.skip()
}
