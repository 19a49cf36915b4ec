/** Upgrades an HTTP/1.1 connection to another protocol, such as WebSockets for pod streams. */
import type { Duplex } from 'node:stream'
import { CallError } from '../../wire/http/client/call-error.ts'
import { ConnectionPool } from '../../wire/http/client/connection-pool.ts'
import { listHeaders, requestHead } from '../../wire/http/client/request-head.ts'
import { type StreamedAnswer, streamCall } from '../../wire/http/client/streamed-call.ts'
import { TransportError } from '../requests/transport.ts'
import type { Dialed } from './dial.ts'
import { joinHeaders } from './join-headers.ts'

/** A request to upgrade a connection. */
export interface UpgradeRequest {
  /** The path and query of the request. */
  readonly path: string
  /** Headers, including `upgrade`, `connection` and the headers of the protocol. */
  readonly headers: { readonly [name: string]: string }
  readonly signal: AbortSignal
}

/** A connection that now carries another protocol. */
export interface UpgradedConnection {
  readonly socket: Duplex
  /** Bytes that the server sent directly after the upgrade. */
  readonly head: Buffer
  readonly headers: { readonly [name: string]: string | undefined }
}

/** Thrown if the server sent a response instead of upgrading the connection. */
export class UpgradeRefused extends TransportError {
  readonly status: number
  readonly body: Buffer

  constructor(status: number, body: Buffer) {
    super(`the server responded with status ${status} instead of switching protocols`)
    this.status = status
    this.body = body
  }
}

const maxRefusal = 1024 * 1024

type ManyHeaders = { readonly [name: string]: string | readonly string[] }

/** Sends the request on the given connection. Closes the connection unless the server upgrades it. */
export async function requestUpgrade(
  socket: Dialed,
  server: string,
  { path, headers, signal }: Omit<UpgradeRequest, 'headers'> & { headers: ManyHeaders },
): Promise<UpgradedConnection> {
  const answer = await sendUpgrade(socket, server, { path, headers, signal })
  if (answer.switched === undefined) throw new UpgradeRefused(answer.status, await refusalBody(answer))
  return { socket: answer.switched.socket, head: answer.switched.rest, headers: joinHeaders(answer) }
}

async function sendUpgrade(
  socket: Dialed,
  server: string,
  { path, headers, signal }: Omit<UpgradeRequest, 'headers'> & { headers: ManyHeaders },
): Promise<StreamedAnswer> {
  const { host } = new URL(server)
  try {
    return await streamCall({
      pool: new ConnectionPool({ open: async () => socket, maxConnections: 1, maxIdle: 0 }),
      serverName: host,
      method: 'GET',
      head: requestHead('GET', path, listHeaders({ host, ...headers })),
      body: undefined,
      timeoutMs: Number.POSITIVE_INFINITY,
      signal,
      rules: { switchesAt: (status) => status === 101 },
    })
  } catch (error) {
    socket.destroy()
    if (signal.aborted) throw signal.reason
    throw error instanceof CallError
      ? new TransportError('the connection closed', { cause: error.cause ?? error })
      : error
  }
}

async function refusalBody({ body }: StreamedAnswer): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > maxRefusal) throw new TransportError(`the server's error response is longer than ${maxRefusal} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
