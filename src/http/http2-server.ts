/** HTTP/2 on connections that the listener has accepted. `close` lets streams under way finish. */
import {
  createServer,
  type Http2Server as NodeServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { maxHeaderBytes, maxParsedHeaders, maxStreams, type Times } from './connection-limits.ts'
import type { Peer, Transport } from './exchange.ts'
import { Http2Transport } from './http2.ts'

export class Http2Server {
  readonly #server: NodeServer
  readonly #sessions = new Map<ServerHttp2Session, Peer>()
  /** Who is at the other end of the connection that is being accepted: its session is made at once. */
  #accepting: Peer = { address: '', certificate: undefined }

  constructor(times: Times, onRequest: (transport: Transport) => void) {
    this.#server = createServer({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxParsedHeaders,
    })
    this.#server.on('session', (session) => this.#begin(session, times.idle))
    this.#server.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders: string[]) => {
      const peer = this.#sessions.get(stream.session as ServerHttp2Session)
      if (peer !== undefined) onRequest(new Http2Transport(stream, headers, rawHeaders, peer))
    })
  }

  accept(socket: TLSSocket, peer: Peer): void {
    this.#accepting = peer
    this.#server.emit('connection', socket)
  }

  close(): void {
    for (const session of this.#sessions.keys()) session.close()
  }

  #begin(session: ServerHttp2Session, idle: number): void {
    this.#sessions.set(session, this.#accepting)
    session.setTimeout(idle, () => session.close())
    session.on('close', () => this.#sessions.delete(session))
    session.on('error', () => session.destroy())
  }
}
