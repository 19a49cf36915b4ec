/** Another protocol on a connection to a server, by the Upgrade of HTTP/1.1: WebSockets, which carry streams of pods. */
import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { TransportError } from '../requests/transport.ts'
import type { Dialed } from './dial.ts'

/** What is asked for. */
export interface UpgradeRequest {
  /** Path and query. */
  readonly path: string
  /** With those of the protocol: `upgrade`, `connection`, ... */
  readonly headers: { readonly [name: string]: string }
  readonly signal: AbortSignal
}

/** The connection, once the server has agreed. */
export interface UpgradedConnection {
  readonly socket: Duplex
  /** What the server sent right after it agreed. */
  readonly head: Buffer
  readonly headers: { readonly [name: string]: string | undefined }
}

/** The server answered instead of changing the protocol. */
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

/** Asks on this connection, which is closed unless the server agrees. */
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
      reject(signal.aborted ? signal.reason : new TransportError('the connection broke', { cause: error })),
    )
    call.end()
  })
}

async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer) {
    size += chunk.length
    if (size > maxRefusal) throw new TransportError(`the server refused with more than ${maxRefusal} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
