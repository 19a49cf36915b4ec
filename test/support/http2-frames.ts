/**
 * Builds individual HTTP/2 frames that no client library would send, for tests of truncated streams, endless headers
 * and closed windows. `openFrames` opens a connection for such frames.
 */
import type { TLSSocket } from 'node:tls'
import { openSocket } from './raw-http.ts'
import type { Served } from './server.ts'

const types = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
}

/** Encodes a frame. */
export function frame(
  type: keyof typeof types,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = types[type]
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const magic = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** First bytes of a client: the connection preface and the client's settings. */
export const preface = Buffer.concat([magic, frame('settings', 0, 0)])
/** Encodes a 32-bit number. */
export const number = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
// The header block of a request: :method GET, :scheme https and :path / from the static table, and an authority, which
// every request requires.
export const plainHeaders = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x78])

export const endStream = 1
export const endHeaders = 4

/** Encodes a header block without compression or table entries. */
export function headerBlock(headers: { readonly [name: string]: string }): Buffer {
  return Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)]))
}

/** Encodes a string with its length. A length of 127 or more needs a second and a third byte. */
function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const rest = bytes.length - 127
  const length = rest < 128 ? Buffer.of(127, rest) : Buffer.of(127, (rest & 127) | 128, rest >> 7)
  return Buffer.concat([length, bytes])
}

/** Encodes the headers of a request on the given stream, which stays open unless the flags end it. */
export function requestFrame(stream: number, headers: { readonly [name: string]: string }, flags = endHeaders): Buffer {
  const all = { ':method': 'GET', ':scheme': 'https', ':authority': 'x', ...headers }
  return frame('headers', flags, stream, headerBlock(all))
}

export async function openFrames(server: Served, settings: Buffer = frame('settings', 0, 0)): Promise<TLSSocket> {
  const socket = await openSocket(server, 'h2')
  socket.on('error', () => socket.destroy())
  socket.write(Buffer.concat([magic, settings]))
  return socket
}
