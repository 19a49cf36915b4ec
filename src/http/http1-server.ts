/**
 * HTTP/1.1 on connections that the listener has accepted. Refuses what is ambiguous, and ends a connection after the
 * first fault: what follows may be part of it.
 *
 * `close` ends connections as a client can follow: every answer says that it is the last one, and a connection without
 * a request is ended only when clients have been silent for a while, as one may be on its way that nobody would then
 * answer.
 */
import type { IncomingMessage, ServerResponse as Response, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { drainTime, drainTurns, lingerTime, maxHeaderBytes, maxParsedHeaders, type Times } from './connection-limits.ts'
import type { Peer, ResponseHeaders, ServerTransport } from './exchange.ts'
import { Http1Transport } from './http1.ts'

// Not imported: that would load all that this module can give, and so the whole of fetch, a tenth of the start.
const { createServer, ServerResponse } = process.getBuiltinModule('node:http')

const nobody: Peer = { address: '', certificate: undefined, proved: () => {}, end: () => {} }

export interface RequestHandling {
  readonly onRequest: (transport: ServerTransport) => void
  /** Whether a request for this path and query may be answered by switching protocols. */
  readonly maySwitch: (target: string) => boolean
}

export class Http1Server {
  readonly #server: Server
  /** The client of each connection. */
  readonly #peers = new Map<Socket, Peer>()
  /** Requests to switch protocols that are answered as any other: Node may drop what came with them. */
  readonly #asking = new WeakSet<IncomingMessage>()
  /** The last answer on a connection. */
  readonly #last = new WeakMap<Duplex, Response>()
  /** What had passed on connections that wait for their client, and since when that has not grown. */
  readonly #still = new Map<Duplex, Stillness>()
  readonly #looking: NodeJS.Timeout
  #closing = false
  /** How many connections and requests there have been. */
  #heard = 0

  constructor(times: Times, { onRequest, maySwitch }: RequestHandling) {
    this.#server = createServer({
      shouldUpgradeCallback: (request) => {
        if (!hasBody(request) && maySwitch(request.url ?? '')) return true
        this.#asking.add(request)
        return false
      },
      headersTimeout: times.headers,
      requestTimeout: times.request,
      // Node would set a timer for each connection after every answer: `#cutStill` looks after all of them.
      keepAliveTimeout: 0,
      maxHeaderSize: maxHeaderBytes,
      connectionsCheckingInterval: times.check,
      // Node would answer a request without one, and still carry out what comes after it.
      requireHostHeader: false,
    })
    this.#server.maxHeadersCount = maxParsedHeaders
    this.#looking = setInterval(() => this.#cutStill(times), times.check).unref()
    this.#server.on('request', (request, response) => this.#begin(request, response, onRequest))
    this.#server.on('upgrade', (request, socket, head) => this.#beginUpgrade({ request, socket, head }, onRequest))
    this.#server.on('connect', (_, socket) => refuse(socket, noTunnel, this.#last.get(socket)))
    this.#server.on('clientError', (error, socket) => refuse(socket, error, this.#last.get(socket)))
    // The timers for slow clients are started by listening, which the TLS server does for this one.
    this.#server.emit('listening')
  }

  accept(socket: TLSSocket, peer: Peer): void {
    this.#heard++
    this.#peers.set(socket, peer)
    socket.on('close', () => this.#forget(socket))
    this.#server.emit('connection', socket)
    if (this.#closing) this.#endWhenIdle(socket)
  }

  /** No further requests on this connection; one that is under way is answered. */
  end(socket: TLSSocket): void {
    this.#endWhenIdle(socket)
  }

  close(): void {
    this.#closing = true
    for (const socket of this.#peers.keys()) this.#endWhenIdle(socket)
    this.#stopIfDone()
  }

  /** Cuts off clients that do not take their answer, and those that have had one and ask for nothing more. */
  #cutStill({ stall, idle }: Times): void {
    const now = performance.now()
    for (const [socket] of this.#peers) {
      const answer = this.#last.get(socket)
      const waits = waitFor(answer)
      const bytes = waits === 'take' ? socket.bytesWritten : socket.bytesRead
      const still = this.#still.get(socket)
      if (waits === 'nothing') this.#still.delete(socket)
      else if (still?.bytes !== bytes || still.waits !== waits) this.#still.set(socket, { waits, bytes, since: now })
      else if (now - still.since >= (waits === 'take' ? stall : idle)) socket.destroy()
    }
  }

  #forget(socket: Socket): void {
    this.#peers.delete(socket)
    this.#still.delete(socket)
    this.#stopIfDone()
  }

  /** Node's own `close` cuts off connections without a request at once, so it is called when there is none left. */
  #stopIfDone(): void {
    if (!this.#closing || this.#peers.size > 0) return
    clearInterval(this.#looking)
    this.#server.close()
  }

  /**
   * An answer that has begun has promised to keep the connection: then the next one ends it, if there is one in time.
   */
  #endWhenIdle(socket: Duplex): void {
    const answer = this.#last.get(socket)
    if (answer === undefined || answer.writableFinished) void this.#endAfterSilence(socket, answer)
    else if (answer.headersSent) answer.on('close', () => this.#endWhenIdle(socket))
    else answer.shouldKeepAlive = false
  }

  /**
   * Ends a connection if no request comes on it for `drainTime`. The time passes in turns of the event loop, each of
   * which reads what has arrived: a process that had no processor for longer than the whole time has turns still to
   * come. While requests come on other connections of a server that stops, clients are not silent but slow.
   */
  async #endAfterSilence(socket: Duplex, answer: Response | undefined): Promise<void> {
    let heard = this.#heard
    for (let silent = 0; silent < drainTurns; silent++) {
      await pause(drainTime / drainTurns)
      await setImmediate()
      if (socket.destroyed || this.#last.get(socket) !== answer) return
      if (this.#closing && heard !== this.#heard) silent = -1
      heard = this.#heard
    }
    endGently(socket)
  }

  #begin(request: IncomingMessage, response: Response, onRequest: RequestHandling['onRequest']): void {
    const { socket } = request
    // What follows a request that was refused is not carried out: it may be part of that one. Nor is what follows one
    // whose answer is the last: nobody would be told.
    if (socket.writableEnded || this.#last.get(socket)?.shouldKeepAlive === false) return
    if (!isPlain(request)) {
      refuse(socket, new Error('not a request of HTTP/1.1 that names one host'), this.#last.get(socket))
      return
    }
    this.#heard++
    this.#last.set(socket, response)
    if (this.#closing || this.#asking.has(request)) response.shouldKeepAlive = false
    onRequest(new Http1Transport(request, response, { peer: this.#peers.get(socket) ?? nobody, upgrade: undefined }))
  }

  /** Node reads nothing more from such a connection: any answer but 101 is its last. */
  #beginUpgrade({ request, socket, head }: AskedUpgrade, onRequest: RequestHandling['onRequest']): void {
    if (socket.writableEnded) return
    if (!isPlain(request)) {
      refuse(socket, new Error('not a request of HTTP/1.1 that names one host'), this.#last.get(socket))
      return
    }
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(request.socket)
    response.on('finish', () => endGently(socket))
    this.#last.set(socket, response)
    const upgrade = {
      protocols: request.headers.upgrade ?? '',
      switch: (headers: ResponseHeaders) => {
        response.detachSocket(request.socket)
        socket.write(headOf101(headers))
        if (head.length > 0) socket.unshift(head)
        return socket
      },
    }
    onRequest(new Http1Transport(request, response, { peer: this.#peers.get(request.socket) ?? nobody, upgrade }))
  }
}

/** A connection on which nothing moves. */
interface Stillness {
  readonly waits: Waits
  /** How much the client had taken or sent. */
  readonly bytes: number
  readonly since: number
}

/** What a connection waits for: that the client takes its answer, that it asks for something, or nothing of the client's. */
type Waits = 'take' | 'ask' | 'nothing'

/** A connection without an answer has not asked yet, and has the time for headers to do so. */
function waitFor(answer: Response | undefined): Waits {
  if (answer === undefined) return 'nothing'
  if (answer.writableLength > 0) return 'take'
  return answer.writableFinished ? 'ask' : 'nothing'
}

interface AskedUpgrade {
  readonly request: IncomingMessage
  readonly socket: Duplex
  /** What the client sent after the request without waiting for an answer. */
  readonly head: Buffer
}

/** Alternating names and values, as a head in HTTP/1.1: values of headers hold no line breaks. */
function headOf101(headers: ResponseHeaders): string {
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
  return ['HTTP/1.1 101 Switching Protocols', 'connection: Upgrade', ...lines, '', ''].join('\r\n')
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/** Says that nothing more will come, and gives the other side time to say so too. */
function endGently(socket: Duplex): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lingerTime)
  socket.on('close', () => clearTimeout(timer))
}

/** One version, one host, one coding: a proxy that passed on a request with two may have used the other one. */
function isPlain({ httpVersion, headers, rawHeaders }: IncomingMessage): boolean {
  if ((headers['transfer-encoding']?.toLowerCase() ?? 'chunked') !== 'chunked') return false
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  return (httpVersion === '1.1' && hosts === 1) || (httpVersion === '1.0' && hosts <= 1)
}

const refusals: ReadonlyMap<string, string> = new Map([
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413 Payload Too Large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout'],
  ['NO_TUNNEL', '405 Method Not Allowed'],
])

/** Of a request with the method CONNECT. */
const noTunnel = Object.assign(new Error('no tunnels to other hosts'), { code: 'NO_TUNNEL' })

/**
 * Answers what is not HTTP, unless an answer has begun, and ends the connection. A request before it that came whole is
 * carried out: its own answer is then the last, as a refusal in its place would say that it was not.
 */
function refuse(socket: Duplex, error: NodeJS.ErrnoException, answer: Response | undefined): void {
  // What comes after the first fault is not looked at.
  if (socket.writableEnded) return
  const begun = answer?.headersSent && !answer.writableFinished
  if (begun || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  if (answer?.req.complete && !answer.writableFinished) {
    answer.shouldKeepAlive = false
    return
  }
  const status = refusals.get(error.code ?? '') ?? '400 Bad Request'
  socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  endGently(socket)
}
