/**
 * Multiplexes the streams of a command over one WebSocket: the first byte of each message selects the stream. The
 * client prefers the protocol `v5.channel.k8s.io`, because it can close a single stream, which `v4.channel.k8s.io`
 * cannot.
 */
import { UpgradeRefused } from '../../../client/node/upgrade.ts'
import { WebSocketClient, webSocketRequest } from '../../../client/node/web-socket.ts'
import { errorOf } from '../../../client/requests/status-error.ts'
import type { Session } from '../connection/session.ts'

/** Channel numbers of the streams: the first byte of each message. */
export const streams = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const endOfStream = 255

export interface Message {
  readonly channel: number
  readonly data: Buffer
}

export class Channels {
  readonly #socket: WebSocketClient

  constructor(socket: WebSocketClient) {
    this.#socket = socket
  }

  async send(channel: number, data: Uint8Array): Promise<void> {
    const message = Buffer.allocUnsafe(data.length + 1)
    message[0] = channel
    message.set(data, 1)
    await this.#socket.send(message)
  }

  /** Whether a single stream can be closed while the others remain open. */
  get canEnd(): boolean {
    return this.#socket.protocol.startsWith('v5.')
  }

  async end(channel: number): Promise<void> {
    if (this.canEnd) await this.#socket.send(Buffer.from([endOfStream, channel]))
  }

  async *messages(): AsyncGenerator<Message> {
    for await (const message of this.#socket.messages())
      if (message.length > 0) yield { channel: message[0]!, data: message.subarray(1) }
  }

  close(): void {
    this.#socket.destroy()
  }
}

/**
 * Opens the streams. An error response from the server is thrown as a StatusError. If the user interrupts the command,
 * the connection is closed.
 */
export async function openChannels(
  { upgrade, context: { signal } }: Pick<Session, 'upgrade' | 'context'>,
  path: string,
  query: URLSearchParams,
): Promise<Channels> {
  const { headers, accept } = webSocketRequest(protocols)
  try {
    const socket = await WebSocketClient.open(await upgrade({ path: `${path}?${query}`, headers, signal }), accept)
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
    return new Channels(socket)
  } catch (error) {
    if (error instanceof UpgradeRefused) throw errorOf(error.status, error.body.toString('utf8'))
    throw error
  }
}
