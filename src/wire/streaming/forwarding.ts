/**
 * Port forwarding: connections to ports of a pod, multiplexed on one client connection. Over SPDY, the client opens a
 * data stream and an error stream for each forwarded connection. Over a WebSocket, each port has two channels for the
 * lifetime of the WebSocket, and the first message on each channel contains the port number.
 */

import type { Duplex } from 'node:stream'
import { isError } from '../../base/text/errors.ts'
import type { AgreedProtocol, SpokenProtocols } from './handshake.ts'
import type { MultiplexedStream } from './multiplexed-stream.ts'
import { type OpenedStream, SpdyConnection } from './spdy/connection.ts'
import { ChannelConnection } from './websocket/channels.ts'

/** The subprotocols that the server supports for port forwarding. */
export const forwardingProtocols: SpokenProtocols = {
  spdy: ['portforward.k8s.io'],
  websocket: ['v4.channel.k8s.io', 'v4.base64.channel.k8s.io'],
}

export interface Forwarding {
  readonly socket: Duplex
  readonly protocol: AgreedProtocol
  /** The ports to forward. A WebSocket client names them in its request. */
  readonly ports: readonly number[]
  readonly idleMs: number
  /** Maximum time in milliseconds between opening the first and the second stream of a pair. */
  readonly openMs: number
  /**
   * Connects a stream to a port of the pod until either side closes. Rejects with a reason that is reported to the
   * client.
   */
  readonly connect: (port: number, stream: Duplex, signal: AbortSignal) => Promise<void>
}

/** Forwards connections to ports. Resolves when the connection of the client is closed. */
export async function forwardPorts(forwarding: Forwarding): Promise<void> {
  const over = new AbortController()
  try {
    if (forwarding.protocol.over === 'spdy') await forwardOverSpdy(forwarding, over.signal)
    else await forwardOverWebSocket(forwarding, over.signal)
  } finally {
    over.abort()
  }
}

interface Pair {
  data?: MultiplexedStream
  error?: MultiplexedStream
  /** Drops the pair if the second stream is not opened in time. */
  readonly timer: NodeJS.Timeout
}

async function forwardOverSpdy(forwarding: Forwarding, signal: AbortSignal): Promise<void> {
  const { socket, idleMs, openMs } = forwarding
  const pairs = new Map<string, Pair>()
  const drop = (key: string) => {
    const pair = pairs.get(key)
    pairs.delete(key)
    clearTimeout(pair?.timer)
    pair?.data?.destroy()
    pair?.error?.destroy()
  }
  const onStream = (opened: OpenedStream) => {
    const { type, port, key } = readStream(opened)
    const pair = pairs.get(key) ?? { timer: setTimeout(drop, openMs, key).unref() }
    if (pair[type] !== undefined) throw new Error('the stream already exists')
    pairs.set(key, pair)
    pair[type] = opened.stream
    // Drop the pair if its first stream is closed, because the client will not open the second one.
    opened.stream.once('close', () => pairs.get(key) === pair && drop(key))
    if (pair.data === undefined || pair.error === undefined) return
    pairs.delete(key)
    clearTimeout(pair.timer)
    void forward(forwarding, { port, data: pair.data, error: pair.error, signal })
  }
  try {
    await new SpdyConnection(socket, { idleMs, onStream }).closed
  } finally {
    for (const key of [...pairs.keys()]) drop(key)
  }
}

/** Parses the headers of a stream. Throws an error if the stream does not belong to a forwarded port. */
function readStream({ id, headers }: OpenedStream): { type: 'data' | 'error'; port: number; key: string } {
  const type = headers.get('streamtype')
  const port = portOf(headers.get('port') ?? '')
  if (port === undefined || (type !== 'data' && type !== 'error')) throw new Error('a stream has no port or type')
  // Without a request ID, the two streams of a pair have consecutive IDs, and the error stream is the first.
  const key = headers.get('requestid') ?? `#${type === 'error' ? id : id - 2}`
  return { type, port, key }
}

/** Parses a port number. Returns undefined if the string is not a valid port. */
export function portOf(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 0xffff ? port : undefined
}

async function forwardOverWebSocket(forwarding: Forwarding, signal: AbortSignal): Promise<void> {
  const { socket, protocol, ports, idleMs } = forwarding
  const isBase64 = protocol.name.includes('base64')
  const connection = await ChannelConnection.open(socket, {
    count: 2 * ports.length,
    isBase64,
    canClose: false,
    idleMs,
  })
  const forwarded = ports.map(async (port, i) => {
    const data = connection.streams[2 * i]!
    const error = connection.streams[2 * i + 1]!
    const number = Buffer.from([port & 0xff, port >> 8])
    data.write(number)
    error.write(number)
    await forward(forwarding, { port, data, error, signal })
  })
  await Promise.race([Promise.all(forwarded), connection.closed])
  await connection.end()
}

interface ForwardedPort {
  readonly port: number
  readonly data: MultiplexedStream
  readonly error: MultiplexedStream
  readonly signal: AbortSignal
}

/**
 * Connects the client to a port of the pod. Ends when the pod has sent all its data, even if the client has not
 * finished sending.
 */
async function forward({ connect }: Forwarding, { port, data, error, signal }: ForwardedPort): Promise<void> {
  error.resume()
  const saidAll = new Promise((resolve) => data.on('finish', resolve))
  try {
    await Promise.race([connect(port, data, signal), saidAll])
  } catch (reason) {
    const message = isError(reason) ? reason.message : 'it failed'
    if (!error.destroyed) error.write(`error forwarding port ${port}: ${message}`)
  }
  // Discard all further data from the client.
  data.resume()
  data.end()
  error.end()
}
