/**
 * Handles an HTTP/1.1 connection that Node's server reads: its requests, errors and timeouts. Node reads ahead, so
 * pipelined requests are queued and run one at a time. After a protocol error, no further request runs, because the
 * following bytes may be part of the invalid request.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { lingerTime, maxParsedHeaders, type Times } from '../connection-limits.ts'
import type { ConnectionOwner, Http1Link } from '../engine.ts'
import { answerHead } from '../http1/answer-head.ts'
import { type Refusal, refusals } from '../http1/head.ts'
import type { Peer, ResponseHeaders, UpgradeRequest } from '../server-transport.ts'
import { NodeHttp1Transport } from './http1-transport.ts'
import { RequestBody } from './request-body.ts'

/** Maximum number of pipelined requests that wait. Common clients do not pipeline. */
const maxWaiting = 100

/** A request that Node's HTTP server has received. */
export interface ArrivedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the client waits for 100 Continue before it sends the body. */
  readonly isAsking?: boolean
  /** Data that followed an upgrade request in the same packet. Undefined for other requests. */
  readonly head?: Buffer
}

export class NodeHttp1Connection implements Http1Link {
  readonly socket: Socket
  readonly #peer: Peer
  readonly #owner: ConnectionOwner
  /** The request in progress, followed by pipelined requests that wait. */
  readonly #queue: NodeHttp1Transport[] = []
  #requests = 0
  /** Whether the connection accepts no further requests. */
  #isOver = false
  /** Whether the connection closes after the next response. */
  #isEnding = false
  #isHandedOver = false
  /** The error response for a malformed request, to be sent after the responses to all requests before it. */
  #refusal: Refusal | undefined
  /** Time when the connection began to wait for a request or for the rest of one. */
  #since = performance.now()
  /** Number of bytes that had arrived by the end of the last request. Later bytes belong to the next request. */
  #bytesReadBefore = 0
  #untaken: { readonly bytesWritten: number; readonly since: number } | undefined
  #onIdle: (() => void) | undefined

  constructor(socket: Socket, peer: Peer, owner: ConnectionOwner) {
    this.socket = socket
    this.#peer = peer
    this.#owner = owner
    socket.on('end', () => this.#leave())
    socket.on('close', () => this.#leave())
    // Node calls this method after the last response. Its own implementation resets the connection if the client is
    // still sending.
    socket.destroySoon = () => this.end()
  }

  get requests(): number {
    return this.#requests
  }

  endSoon(onIdle: () => void): void {
    this.#isEnding = true
    const [current] = this.#queue
    if (current === undefined) onIdle()
    else if (current.isBegun) this.#onIdle = onIdle
    else current.response.shouldKeepAlive = false
  }

  end(): void {
    this.#isOver = true
    if (this.socket.writableEnded) return
    this.socket.end()
    const timer = setTimeout(() => this.socket.destroy(), lingerTime)
    this.socket.on('close', () => clearTimeout(timer))
  }

  check(now: number, { headers, request, idle, stall }: Times): void {
    if (this.#isHandedOver || this.#isTaking(now, stall)) return
    const [current] = this.#queue
    if (current === undefined && !this.#isOver) this.#checkIdle(now, headers, idle)
    else if (current?.isReceiving === true && now - this.#since >= request) this.#breakBody(current)
  }

  begin(arrived: ArrivedRequest): void {
    if (this.#isOver) return
    const refusal = refusalOf(arrived.request)
    if (refusal !== undefined) this.fail(refusal)
    else if (this.#queue.length > maxWaiting) this.socket.destroy()
    else this.#admit(arrived)
  }

  /** Handles a malformed request, or a malformed body of a running request. */
  fail(refusal: Refusal): void {
    if (this.#isOver) return
    if (!this.socket.writable) {
      this.socket.destroy()
      return
    }
    const last = this.#queue.at(-1)
    if (last === undefined) this.#refuse(refusal)
    else if (last.isReceiving) this.#breakBody(last)
    else {
      this.#isOver = true
      this.#refusal = refusal
    }
  }

  #admit({ request, response, isAsking = false, head }: ArrivedRequest): void {
    const transport: NodeHttp1Transport = new NodeHttp1Transport(request, response, {
      peer: this.#peer,
      body: hasBody(request) ? this.#bodyOf(request, () => this.#goOnIfDone(transport)) : undefined,
      upgrade: head === undefined ? undefined : this.#upgradeOf(request, response, head),
      isAsking,
    })
    // No request follows an upgrade request, because the client may already be using the new protocol.
    if (this.#isEnding || request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    response.on('close', () => this.#onAnswered(transport))
    this.#requests++
    if (this.#queue.push(transport) === 1) this.#start(transport)
  }

  #start(transport: NodeHttp1Transport): void {
    this.#since = performance.now()
    if (this.#isEnding) transport.response.shouldKeepAlive = false
    this.#owner.onRequest(transport)
  }

  #bodyOf(request: IncomingMessage, onOver: () => void): RequestBody {
    const isComplete = () => request.complete
    return new RequestBody({ stream: request, isComplete, onOver, onExcess: () => this.end() })
  }

  #onAnswered(transport: NodeHttp1Transport): void {
    transport.discardBody()
    this.#goOnIfDone(transport)
  }

  #goOnIfDone(transport: NodeHttp1Transport): void {
    if (this.#queue[0] !== transport || !transport.response.writableFinished || transport.isReceiving) return
    this.#queue.shift()
    this.#since = performance.now()
    this.#bytesReadBefore = this.socket.bytesRead
    if (this.socket.writableEnded) return
    const [next] = this.#queue
    if (next !== undefined) setImmediate(() => this.socket.destroyed || this.#start(next))
    else if (this.#refusal !== undefined) this.#refuse(this.#refusal)
    else this.#onIdle?.()
    this.#onIdle = undefined
  }

  /**
   * Handles a truncated body. The handler that reads the body sends the response. If a response has already been sent,
   * the connection closes after it.
   */
  #breakBody(transport: NodeHttp1Transport): void {
    this.#isOver = true
    transport.response.shouldKeepAlive = false
    const isAnswered = transport.response.writableFinished
    transport.breakBody()
    if (isAnswered) this.end()
  }

  /** Sends an error for a malformed request, and closes the connection. */
  #refuse(refusal: Refusal): void {
    if (this.socket.writable) this.socket.write(`HTTP/1.1 ${refusal}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    this.end()
  }

  #upgradeOf(request: IncomingMessage, response: ServerResponse, head: Buffer): UpgradeRequest {
    return {
      protocols: request.headers.upgrade ?? '',
      switch: (headers: ResponseHeaders) => {
        this.#isHandedOver = true
        this.#isOver = true
        response.detachSocket(this.socket)
        this.socket.write(answerHead(101, ['connection', 'Upgrade', ...headers]), 'latin1')
        if (head.length > 0) this.socket.unshift(head)
        return this.socket
      },
    }
  }

  #leave(): void {
    this.#isOver = true
    if (!this.#isHandedOver) for (const transport of this.#queue) transport.leave()
  }

  #checkIdle(now: number, headers: number, idle: number): void {
    const { bytesRead } = this.socket
    if (this.#requests > 0 && bytesRead === this.#bytesReadBefore) {
      if (now - this.#since >= idle) this.socket.destroy()
      return
    }
    // The timeout starts when a check first finds an incomplete request.
    if (this.#requests > 0 && this.#bytesReadBefore >= 0) {
      this.#bytesReadBefore = -1
      this.#since = now
    } else if (now - this.#since >= headers) this.#refuse(refusals.late)
  }

  /** Returns whether the client still has response data to read. Disconnects a client that has stopped reading. */
  #isTaking(now: number, stall: number): boolean {
    if (this.socket.writableLength === 0) {
      this.#untaken = undefined
      return false
    }
    const { bytesWritten } = this.socket
    if (this.#untaken?.bytesWritten !== bytesWritten) this.#untaken = { bytesWritten, since: now }
    else if (now - this.#untaken.since >= stall) this.socket.destroy()
    return true
  }
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/**
 * Returns the reason for rejecting a request that Node would accept: two hosts, a transfer encoding other than chunked,
 * or chunked encoding in HTTP/1.0. A proxy between client and server may interpret such a request differently.
 */
function refusalOf({ method, httpVersion, headers, rawHeaders }: IncomingMessage): Refusal | undefined {
  if (method === 'CONNECT') return refusals.tunnel
  if (rawHeaders.length > 2 * maxParsedHeaders) return refusals.large
  const coding = headers['transfer-encoding']
  const isOld = httpVersion === '1.0'
  if (!isOld && httpVersion !== '1.1') return refusals.bad
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) return refusals.bad
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') hosts++
  if (hosts > 1 || (hosts === 0 && !isOld)) return refusals.bad
  const expected = headers.expect?.toLowerCase() ?? '100-continue'
  return expected === '100-continue' ? undefined : refusals.expectation
}
