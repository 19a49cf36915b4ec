/**
 * A watch event in Protobuf: a length in four bytes, followed by the message `WatchEvent`, which contains the type of
 * the event and the complete document of the object, including the envelope.
 */
import { delimitedSize, WireWriter } from '../../../wire/protobuf/protobuf-wire.ts'

const lengthBytes = 4

/** Encodes a watch event, preceded by its length. */
export function frameOf(eventType: string, document: Buffer): Buffer {
  const writer = new WireWriter(lengthBytes, 64)
  writer.string(1, eventType)
  writer.lengthOf(2, delimitedSize(document.length))
  writer.lengthOf(1, document.length)
  const head = writer.finish()
  head.writeUInt32BE(head.length - lengthBytes + document.length)
  return Buffer.concat([head, document])
}
