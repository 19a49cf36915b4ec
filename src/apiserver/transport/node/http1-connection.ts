/**
 * One connection of HTTP/1.1 that Node's server reads: its requests, its faults and its times. Node reads ahead, so requests
 * that follow before an answer wait here, and are carried out one after another. After a fault nothing more is carried out:
 * what follows may be part of it.
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

/** How many requests may wait for the answer of one before them. Common clients never send ahead. */
const maxWaiting = 100

/** A request as Node has read its head. */
export interface ArrivedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether the client waits for 100 Continue before it sends the body. */
  readonly isAsking?: boolean
  /** For a connection that Node has handed over: what the client sent behind the request. */
  readonly head?: Buffer
}

export class NodeHttp1Connection implements Http1Link {
  readonly socket: Socket
  readonly #peer: Peer
  readonly #owner: ConnectionOwner
  /** The request that is being answered, or whose body is still arriving, and those that wait behind it. */
  readonly #queue: NodeHttp1Transport[] = []
  #requests = 0
  /** Whether nothing more is carried out. */
  #isOver = false
  /** Whether the next answer is the last. */
  #isEnding = false
  #isHandedOver = false
  /** Answers a fault that came behind a request, after that request is answered. */
  #refusal: Refusal | undefined
  /** Since when a request is awaited, or what is missing of it. */
  #since = performance.now()
  /** How many bytes the client had sent when its last request was over. */
  #bytesReadBefore = 0
  #untaken: { readonly bytesWritten: number; readonly since: number } | undefined
  #onIdle: (() => void) | undefined

  constructor(socket: Socket, peer: Peer, owner: ConnectionOwner) {
    this.socket = socket
    this.#peer = peer
    this.#owner = owner
    socket.on('end', () => this.#leave())
    socket.on('close', () => this.#leave())
    // Node calls this after the last answer. Its own would reset the connection of a client that still sends.
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

  /** What was sent is no request, or the body of one that has begun is malformed. */
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
    // A client that asks to switch protocols may send something else than requests from then on.
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

  /** A body that breaks off is its reader's to answer. If there is an answer already, it was the last. */
  #breakBody(transport: NodeHttp1Transport): void {
    this.#isOver = true
    transport.response.shouldKeepAlive = false
    const isAnswered = transport.response.writableFinished
    transport.breakBody()
    if (isAnswered) this.end()
  }

  /** Answers what is no request, and ends the connection. */
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
    // The first look that finds part of a request begins its time.
    if (this.#requests > 0 && this.#bytesReadBefore >= 0) {
      this.#bytesReadBefore = -1
      this.#since = now
    } else if (now - this.#since >= headers) this.#refuse(refusals.late)
  }

  /** Whether there is something for the client to take. */
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
 * Why a request is rejected although Node reads it: two hosts, another coding than chunks, chunks in version 1.0. A proxy
 * that passed on such a request may have read it in another way.
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
