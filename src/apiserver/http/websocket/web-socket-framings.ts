/** Splits watches and logs into WebSocket messages. */
import type { MessageFraming } from './web-socket-transport.ts'

const newline = 0x0a

/** Sends each event as a text message, including its trailing newline. */
export const jsonEventMessages: MessageFraming = {
  *messages(chunk) {
    for (let start = 0; start < chunk.length; ) {
      const end = chunk.indexOf(newline, start) + 1
      if (end === 0) throw new Error('an event does not end with a line break')
      yield { type: 'text', data: chunk.subarray(start, end) }
      start = end
    }
  },
}

const lengthBytes = 4

/** Sends each event as a binary message, without the length prefix that precedes events in an ordinary response. */
export const protobufEventMessages: MessageFraming = {
  *messages(chunk) {
    for (let start = 0; start < chunk.length; ) {
      const from = start + lengthBytes
      const end = from + chunk.readUInt32BE(start)
      yield { type: 'binary', data: chunk.subarray(from, end) }
      start = end
    }
  },
}

const base64Protocol = 'base64.binary.k8s.io'

/** Sends log chunks as binary messages, or as base64 text if the client requests base64. The first message is empty. */
export const logMessages: MessageFraming = {
  protocols: ['binary.k8s.io', base64Protocol],
  opening: (protocol) => ({ type: protocol === base64Protocol ? 'text' : 'binary', data: Buffer.alloc(0) }),
  *messages(chunk, protocol) {
    if (protocol === base64Protocol) yield { type: 'text', data: Buffer.from(chunk.toString('base64'), 'latin1') }
    else yield { type: 'binary', data: chunk }
  },
}
