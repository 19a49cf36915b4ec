/** Upgrades an HTTP/1.1 connection to another protocol, such as WebSockets for pod streams. */
import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { TransportError } from '../requests/transport.ts'
import type { Dialed } from './dial.ts'

/** A request to upgrade. */
export interface UpgradeRequest {
  /** Path and query. */
  readonly path: string
  /** Headers, including `upgrade`, `connection` and those of the protocol. */
  readonly headers: { readonly [name: string]: string }
  readonly signal: AbortSignal
}

/** A connection after a successful upgrade. */
export interface UpgradedConnection {
  readonly socket: Duplex
  /** Bytes that the server sent right after the upgrade. */
  readonly head: Buffer
  readonly headers: { readonly [name: string]: string | undefined }
}

/** The server sent a response instead of upgrading. */
export class UpgradeRefused extends TransportError {
  readonly status: number
  readonly body: Buffer

  constructor(status: number, body: Buffer) {
    super(`the server answered ${status} instead of changing the protocol`)
    this.status = status
    this.body = body
  }
}

const maxRefusal = 1024 * 1024

/** Sends the request on this connection. Closes the connection unless the server upgrades it. */
export async function requestUpgrade(
  socket: Dialed,
  server: string,
  {
    path,
    headers,
    signal,
  }: Omit<UpgradeRequest, 'headers'> & { headers: { [name: string]: string | readonly string[] } },
): Promise<UpgradedConnection> {
  return await new Promise((resolve, reject) => {
    const { host } = new URL(server)
    const call = request({
      createConnection: () => socket,
      path,
      headers: { host, ...(headers as { [name: string]: string | string[] }) },
      signal,
    })
    call.once('upgrade', ({ headers }: IncomingMessage, upgraded: Duplex, head: Buffer) =>
      resolve({ socket: upgraded, head, headers: headers as UpgradedConnection['headers'] }),
    )
    call.once('response', (answer) => {
      bodyOf(answer)
        .then((body) => reject(new UpgradeRefused(answer.statusCode ?? 0, body)), reject)
        .finally(() => socket.destroy())
    })
    call.once('error', (error) =>
      reject(signal.aborted ? signal.reason : new TransportError('the connection closed', { cause: error })),
    )
    call.end()
  })
}

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > maxRefusal)
      throw new TransportError(`the error response of the server is longer than ${maxRefusal} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
