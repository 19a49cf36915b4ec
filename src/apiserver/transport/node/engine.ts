/**
 * Implements the engine `node`, which uses Node's HTTP modules on connections that the listener has accepted. The
 * modules' own timeouts are disabled, because the timeouts in `connection-limits.ts` apply.
 */
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { maxHeaderBytes } from '../connection-limits.ts'
import type { ConnectionOwner, Http1Link, Http2Link, Http2Owner, HttpEngine } from '../engine.ts'
import { type Refusal, refusals } from '../http1/head.ts'
import type { Peer } from '../server-transport.ts'
import { type ArrivedRequest, hasBody, NodeHttp1Connection } from './http1-connection.ts'
import { NodeHttp2Connection } from './http2-connection.ts'

const refusalOfCode: ReadonlyMap<string | undefined, Refusal> = new Map([['HPE_HEADER_OVERFLOW', refusals.large]])

export class NodeEngine implements HttpEngine {
  readonly #server: Server
  readonly #connections = new WeakMap<Duplex, { connection: NodeHttp1Connection; owner: ConnectionOwner }>()

  constructor() {
    this.#server = createServer({
      shouldUpgradeCallback: (request) => this.#maySwitch(request),
      headersTimeout: 0,
      requestTimeout: 0,
      keepAliveTimeout: 0,
      maxHeaderSize: maxHeaderBytes,
      // If Node required a Host header, it would reject a request without the header but still accept the requests
      // after it.
      requireHostHeader: false,
    })
    // If `maxHeadersCount` were set, Node would drop the excess headers and accept the request. `refusalOf` rejects it
    // instead.
    this.#server.maxHeadersCount = 0
    this.#server.on('request', (request, response) => this.#begin({ request, response }))
    this.#server.on('checkContinue', (request, response) => this.#begin({ request, response, isAsking: true }))
    this.#server.on('checkExpectation', (request) => this.#fail(request.socket, refusals.expectation))
    this.#server.on('upgrade', (request, _socket, head) => this.#beginUpgrade(request, head))
    this.#server.on('connect', (request) => this.#fail(request.socket, refusals.tunnel))
    this.#server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) =>
      this.#fail(socket, refusalOfCode.get(code) ?? refusals.bad),
    )
  }

  openHttp1(socket: Socket, peer: Peer, owner: ConnectionOwner): Http1Link {
    const connection = new NodeHttp1Connection(socket, peer, owner)
    this.#connections.set(socket, { connection, owner })
    this.#server.emit('connection', socket)
    return connection
  }

  openHttp2(socket: Socket, peer: Peer, owner: Http2Owner): Http2Link {
    return new NodeHttp2Connection(socket, peer, owner)
  }

  /**
   * Returns whether a request may upgrade to another protocol. Node treats all other upgrade requests as ordinary
   * requests.
   */
  #maySwitch(request: IncomingMessage): boolean {
    const { owner } = this.#connections.get(request.socket)!
    return !hasBody(request) && owner.maySwitch(request.url ?? '')
  }

  #begin(arrived: ArrivedRequest): void {
    this.#connections.get(arrived.request.socket)?.connection.begin(arrived)
  }

  /**
   * Starts an upgrade request. Node no longer reads from its connection, so any response other than 101 closes the
   * connection.
   */
  #beginUpgrade(request: IncomingMessage, head: Buffer): void {
    const { socket } = request
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.on('finish', () => socket.destroySoon())
    this.#begin({ request, response, head })
  }

  #fail(socket: Duplex, refusal: Refusal): void {
    this.#connections.get(socket)?.connection.fail(refusal)
  }
}
