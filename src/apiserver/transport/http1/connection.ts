/**
 * Serves one HTTP/1.1 connection. Requests are dispatched one at a time: the next request is read once the response to
 * the previous one has been sent and its body is complete. Responses, including error responses, are therefore sent in
 * the order of the requests. After a protocol error, the connection reads nothing more, because the following bytes may
 * be part of the invalid request.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { lingerTime, maxHeaderBytes, type Times } from '../connection-limits.ts'
import type { ConnectionOwner, Http1Link } from '../engine.ts'
import type { Peer, ResponseHeaders, UpgradeRequest } from '../server-transport.ts'
import { answerHead } from './answer-head.ts'
import { IncomingBody, maxHeld } from './body.ts'
import { HeadParser, hasBody, type Refusal, type RequestHead, refusals } from './head.ts'
import { readInStage } from './stages.ts'
import { type AnswerConnection, Http1Transport } from './transport.ts'
import { UnreadBytes } from './unread-bytes.ts'

export class Http1Connection implements AnswerConnection, Http1Link {
  readonly socket: Socket
  readonly peer: Peer
  readonly #owner: ConnectionOwner
  readonly #unread = new UnreadBytes()
  readonly #heads = new HeadParser()
  /** The request in progress, until both its body and its response are complete. */
  #current: Http1Transport | undefined
  #body: IncomingBody | undefined
  #requests = 0
  /** Whether the connection ignores all further data. */
  #isOver = false
  /** Whether the connection closes after the next response. */
  #isEnding = false
  #isPaused = false
  #isHandedOver = false
  /** Whether the connection is queued to be read in the next stage. */
  #isInStage = false
  /** Time when the connection began to wait for a request or for the rest of one. */
  #since = performance.now()
  #untaken: Untaken | undefined
  #onIdle: (() => void) | undefined

  constructor(socket: Socket, peer: Peer, owner: ConnectionOwner) {
    this.socket = socket
    this.peer = peer
    this.#owner = owner
    socket.on('data', this.#onData)
    // When the client closes its side, close the server's side too. TLS does not support half-closed connections.
    socket.on('end', () => this.#leave())
    socket.on('close', () => this.#leave())
  }

  /** Number of requests received on the connection. */
  get requests(): number {
    return this.#requests
  }

  /**
   * Closes the connection after the response to the current request. If there is no current request, calls `onIdle` and
   * closes the connection after the response to the next request.
   */
  endSoon(onIdle: () => void): void {
    this.#isEnding = true
    if (this.#current === undefined) onIdle()
    else if (this.#current.isBegun) this.#onIdle = onIdle
    else this.#current.isLast = true
  }

  /** Closes the server's side of the connection and gives the client time to close its side. */
  end(): void {
    this.#isOver = true
    this.#unread.drop()
    this.#resume()
    if (this.socket.writableEnded) return
    this.socket.end()
    const timer = setTimeout(() => this.socket.destroy(), lingerTime)
    this.socket.on('close', () => clearTimeout(timer))
  }

  /** Disconnects a client that is too slow, does not read its response, or has been idle for too long. */
  check(now: number, { headers, request, idle, stall }: Times): void {
    if (this.#isHandedOver || this.#isTaking(now, stall)) return
    const waited = now - this.#since
    if (this.#current === undefined && !this.#isOver) {
      const hasAsked = this.#requests > 0 && this.#unread.size === 0
      if (hasAsked && waited >= idle) this.socket.destroy()
      else if (!hasAsked && waited >= headers) this.#refuse(refusals.late)
    } else if (this.#body?.isWhole === false && waited >= request) this.#fail(this.#body)
  }

  /**
   * Returns whether response data is still waiting to be sent. Disconnects the client if it has read nothing for
   * `stall` milliseconds.
   */
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

  readonly #onData = (part: Buffer): void => {
    if (this.#isOver) return
    if (this.#current === undefined && this.#unread.size === 0) this.#since = performance.now()
    this.#unread.add(part)
    if (this.#current === undefined) this.#readLater()
    else this.#read()
  }

  /** Queues the connection to be read after the data of all connections has been decrypted (`stages.ts`). */
  #readLater(): void {
    if (this.#unread.size > maxHeld) this.#pause()
    if (this.#isInStage) return
    this.#isInStage = true
    readInStage(this)
  }

  readArrived(): void {
    if (!this.#isInStage) return
    this.#isInStage = false
    if (!this.#isOver) this.#read()
  }

  /** Parses as much of the received data as possible: the rest of a body, then the next request. */
  #read(): void {
    if (this.#body !== undefined) this.#readBody(this.#body)
    if (this.#isOver) return
    if (this.#current === undefined) this.#readHead()
    else if (this.#unread.size > maxHeld) this.#pause()
  }

  #readHead(): void {
    const text = this.#unread.takeHead()
    if (text === undefined) {
      if (this.#unread.size > maxHeaderBytes) this.#refuse(refusals.large)
      else this.#resume()
      return
    }
    const head = text === false ? refusals.bad : this.#heads.parse(text)
    if (typeof head === 'string') this.#refuse(head)
    else this.#begin(head)
  }

  #begin(head: RequestHead): void {
    const body = hasBody(head) ? this.#bodyOf(head) : undefined
    const upgrade = body === undefined ? this.#upgradeOf(head) : undefined
    // No request follows an upgrade request, because the client may already be using the new protocol.
    const isLast = !head.keepsAlive || head.upgrade !== undefined || this.#isEnding
    const transport = new Http1Transport(this, head, { body, upgrade, isLast })
    this.#requests++
    this.#current = transport
    this.#body = body
    if (body !== undefined) {
      this.#resume()
      this.#readBody(body)
    }
    this.#owner.onRequest(transport)
  }

  #bodyOf(head: RequestHead): IncomingBody {
    return new IncomingBody(head, {
      onWanted: () => {
        this.#current?.invite()
        this.#resume()
      },
      onFull: () => this.#pause(),
    })
  }

  #readBody(body: IncomingBody): void {
    if (body.isWhole || this.#unread.size === 0) return
    const used = body.receive(this.#unread.bytes)
    if (used === undefined || body.isExcessive) {
      this.#fail(body)
      return
    }
    this.#unread.skip(used)
    if (body.isWhole) this.#goOnIfDone()
  }

  /**
   * Handles a truncated body. The handler that reads the body sends the response. If a response has already been sent,
   * the connection closes after it.
   */
  #fail(body: IncomingBody): void {
    const current = this.#current!
    current.isLast = true
    this.#isOver = true
    this.#unread.drop()
    body.break()
    if (current.isEnded) this.end()
  }

  answered(transport: Http1Transport): void {
    if (transport.isLast) {
      this.end()
      return
    }
    if (this.#body?.isWhole === false) transport.forgetHeaders()
    this.#body?.discard()
    this.#goOnIfDone()
  }

  /**
   * Starts the next request in another turn of the event loop, so that a client with many pipelined requests does not
   * delay other clients.
   */
  #goOnIfDone(): void {
    if (this.#isOver || !this.#current?.isFlushed || this.#body?.isWhole === false) return
    // Do not read the next request until the client has read the responses to the previous ones.
    if (this.socket.writableNeedDrain) {
      this.socket.once('drain', () => this.#goOnIfDone())
      return
    }
    this.#current = undefined
    this.#body = undefined
    this.#since = performance.now()
    this.#onIdle?.()
    this.#onIdle = undefined
    if (this.#unread.size === 0) this.#resume()
    else this.#readLater()
  }

  /** Sends an error for a malformed request, and closes the connection. */
  #refuse(status: Refusal): void {
    if (this.socket.writable) this.socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    this.end()
  }

  #upgradeOf({ upgrade, target }: RequestHead): UpgradeRequest | undefined {
    if (upgrade === undefined || !this.#owner.maySwitch(target)) return undefined
    return { protocols: upgrade, switch: (headers) => this.#handOver(headers) }
  }

  /** Switches protocols: sends the 101 response and returns the socket to its new owner. */
  #handOver(headers: ResponseHeaders): Duplex {
    const { socket } = this
    socket.off('data', this.#onData)
    // Leave the socket paused until its new owner reads from it.
    Object.assign(socket, { readableFlowing: null })
    if (this.#unread.size > 0) socket.unshift(this.#unread.bytes)
    this.#isHandedOver = true
    this.#isOver = true
    socket.write(answerHead(101, ['connection', 'Upgrade', ...headers]), 'latin1')
    return socket
  }

  #leave(): void {
    // Handle a request that has arrived completely, even though the client may have disconnected.
    this.readArrived()
    this.#isOver = true
    this.#unread.drop()
    this.#body?.break()
    if (!this.#isHandedOver) this.#current?.leave()
  }

  #pause(): void {
    this.#isPaused = true
    this.socket.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.socket.resume()
  }
}

/** Progress of a client that reads its response slowly. */
interface Untaken {
  /** The value of `socket.bytesWritten` when the client last made progress. */
  readonly bytesWritten: number
  readonly since: number
}
