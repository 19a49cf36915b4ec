/**
 * Sends a streamed response over a WebSocket. If a client requests an upgrade of a watch or log, the server responds
 * with 101 and sends each event or log chunk as a message, as kube-apiserver does. Other responses, such as errors, are
 * sent as ordinary HTTP. The upgrade happens after the request has passed through the whole pipeline.
 */
import type { Readable } from 'node:stream'
import { badRequest } from '../../../api/model/api-error.ts'
import { agreeOnProtocol } from '../../../wire/streaming/handshake.ts'
import { MessageSocket, maxReceivedBytes } from '../../../wire/streaming/websocket/message-socket.ts'
import { WebSocketFraming } from '../../../wire/websocket/framing.ts'
import type { Peer, ResponseHeaders, ServerTransport, UpgradeRequest } from '../../transport/server-transport.ts'
import type { Exchange } from '../request/exchange.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { withoutWebSocketToken } from './websocket-token.ts'

interface SocketMessage {
  readonly type: 'text' | 'binary'
  readonly data: Buffer
}

/** Divides a streamed response into WebSocket messages. */
export interface MessageFraming {
  /** The supported subprotocols. If undefined, the client's first subprotocol is accepted. */
  readonly protocols?: readonly string[]
  /** Returns the first message, which shows the client that the stream has started. */
  opening?(protocol: string): SocketMessage
  messages(chunk: Buffer, protocol: string): Iterable<SocketMessage>
}

/** Prepares the exchange to send its streamed response over a WebSocket, if the client requests one. */
export async function answerOverWebSocket(exchange: Exchange, messages: MessageFraming): Promise<void> {
  const { upgrade } = exchange.transport
  const requestedProtocols = upgrade?.protocols.split(',').map((name) => name.trim().toLowerCase())
  if (upgrade === undefined || !requestedProtocols?.includes('websocket')) return
  const agreed = agreeOnSubprotocol(exchange.headers, messages)
  const framing = await WebSocketFraming.open('server', maxReceivedBytes)
  const onSwitched = () => {
    exchange.status = 101
  }
  const transport = new WebSocketTransport(exchange.transport, { upgrade, framing, messages, ...agreed, onSwitched })
  exchange.transport = transport
  // Earlier steps may listen to the exchange's abort signal, so it must also fire when the WebSocket closes.
  transport.signal.addEventListener('abort', () => exchange.abandon())
}

/**
 * Chooses a subprotocol that both sides support. Returns it with the headers of the 101 response. Throws 400 if there
 * is none.
 */
export function agreeOnSubprotocol(headers: RequestHeaders, { protocols }: Pick<MessageFraming, 'protocols'>) {
  // A token among the subprotocols is a credential, so do not repeat it in the response.
  const offered = withoutWebSocketToken(headers.list('sec-websocket-protocol'))
  const first = offered.split(',', 1)[0]!.trim()
  const agreed = agreeOnProtocol(
    {
      upgrade: 'websocket',
      'sec-websocket-key': headers.first('sec-websocket-key'),
      'sec-websocket-version': headers.first('sec-websocket-version'),
      'sec-websocket-protocol': offered,
    },
    { spdy: [], websocket: protocols ?? [first] },
  )
  if ('status' in agreed) throw badRequest(agreed.message)
  return { protocol: agreed.name, answer: withoutConnection(agreed.headers) }
}

/** Returns the headers with lower-case names and without Connection, which the transport adds itself. */
function withoutConnection(headers: readonly string[]): string[] {
  const forwardedHeaders: string[] = []
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i]!.toLowerCase() !== 'connection') forwardedHeaders.push(headers[i]!.toLowerCase(), headers[i + 1]!)
  return forwardedHeaders
}

interface Switching {
  readonly upgrade: UpgradeRequest
  readonly framing: WebSocketFraming
  readonly messages: MessageFraming
  /** The chosen subprotocol, or '' if none was chosen. */
  readonly protocol: string
  /** Headers of the 101 response. */
  readonly answer: readonly string[]
  readonly onSwitched: () => void
}

class WebSocketTransport implements ServerTransport {
  readonly #inner: ServerTransport
  readonly #switching: Switching
  readonly #closed = new AbortController()
  #socket: MessageSocket | undefined

  constructor(inner: ServerTransport, switching: Switching) {
    this.#inner = inner
    this.#switching = switching
    const { signal } = inner
    if (signal.aborted) this.#closed.abort()
    else signal.addEventListener('abort', () => this.#closed.abort())
  }

  get method(): string {
    return this.#inner.method
  }

  get target(): string {
    return this.#inner.target
  }

  /** The request headers without the upgrade headers, which must not be forwarded to a backend. */
  get rawHeaders(): readonly string[] {
    const { rawHeaders } = this.#inner
    return rawHeaders.filter((_, i) => !/^(?:upgrade$|connection$|sec-websocket-)/i.test(rawHeaders[i - (i % 2)]!))
  }

  get peer(): Peer {
    return this.#inner.peer
  }

  get disconnected(): boolean {
    return this.#socket === undefined ? this.#inner.disconnected : this.#closed.signal.aborted || this.#socket.isOver
  }

  get signal(): AbortSignal {
    return this.#closed.signal
  }

  get hasBody(): boolean {
    return this.#inner.hasBody
  }

  get body(): Readable {
    return this.#inner.body
  }

  get bodyAtHand(): Buffer | undefined {
    return this.#inner.bodyAtHand
  }

  get bodyWhole(): boolean {
    return this.#inner.bodyWhole
  }

  send(...answer: Parameters<ServerTransport['send']>): void {
    this.#inner.send(...answer)
  }

  responseRead(): Promise<void> {
    return this.#inner.responseRead()
  }

  open(status: number, headers: ResponseHeaders): void {
    if (status === 200) this.#switch(headers)
    else this.#inner.open(status, headers)
  }

  #switch(headers: ResponseHeaders): void {
    const { upgrade, answer, framing, messages, protocol, onSwitched } = this.#switching
    const socket = upgrade.switch([...answer, ...withoutLength(headers)])
    this.#socket = new MessageSocket(socket, framing, () => this.#closed.abort())
    onSwitched()
    const opening = messages.opening?.(protocol)
    if (opening !== undefined) this.#socket.send(opening.type, opening.data)
  }

  write(chunk: Buffer): Promise<void> | undefined {
    if (this.#socket === undefined) return this.#inner.write(chunk)
    const { messages, protocol } = this.#switching
    let room: Promise<void> | undefined
    for (const { type, data } of messages.messages(chunk, protocol)) room = this.#socket.send(type, data)
    return room
  }

  /** Sends a chunk. Copies it first, because the caller reuses the memory. */
  async pass(chunk: Buffer): Promise<void> {
    if (this.#socket === undefined) await this.#inner.pass(chunk)
    else await this.write(Buffer.from(chunk))
  }

  end(): void {
    if (this.#socket === undefined) this.#inner.end()
    else this.#socket.end()
  }

  cut(): void {
    if (this.#socket === undefined) this.#inner.cut()
    else this.#socket.destroy()
  }
}

/**
 * Returns the headers without lengths. A 101 response has no body, so it needs neither Content-Length nor
 * Transfer-Encoding.
 */
function withoutLength(headers: ResponseHeaders): string[] {
  return headers.filter((_, i) => !/^(?:content-length|transfer-encoding)$/.test(headers[i - (i % 2)]!))
}
