/**
 * One connection that speaks HTTP/1.1: reads requests and hands them on, one after another. The next one is read when the
 * one before has been answered and its body has come to its end, so answers stand in the order of the requests, and a
 * fault is answered in its place. After a fault nothing more is read: what follows may be part of it.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { lingerTime, maxHeaderBytes, type Times } from '../connection-limits.ts'
import type { ConnectionOwner, Http1Link } from '../engine.ts'
import type { Peer, ResponseHeaders, UpgradeRequest } from '../server-transport.ts'
import { answerHead } from './answer-head.ts'
import { IncomingBody, maxHeld } from './body.ts'
import { hasBody, parseHead, type Refusal, type RequestHead, refusals } from './head.ts'
import { readInStage } from './stages.ts'
import { type AnswerConnection, Http1Transport } from './transport.ts'
import { Unread } from './unread.ts'

export class Http1Connection implements AnswerConnection, Http1Link {
  readonly socket: Socket
  readonly peer: Peer
  readonly #owner: ConnectionOwner
  readonly #unread = new Unread()
  /** The request whose answer is not complete, or whose body is not. */
  #current: Http1Transport | undefined
  #body: IncomingBody | undefined
  #requests = 0
  /** Whether nothing more is read. */
  #isOver = false
  /** Whether the next answer is the last. */
  #isEnding = false
  #isPaused = false
  #isHandedOver = false
  /** Whether `readArrived` is about to be called. */
  #isInStage = false
  /** Since when a request is awaited, or what is missing of it. */
  #since = performance.now()
  #untaken: Untaken | undefined
  #onIdle: (() => void) | undefined

  constructor(socket: Socket, peer: Peer, owner: ConnectionOwner) {
    this.socket = socket
    this.peer = peer
    this.#owner = owner
    socket.on('data', this.#onData)
    // Who says that nothing more comes is told nothing more either: TLS ends both ways at once.
    socket.on('end', () => this.#leave())
    socket.on('close', () => this.#leave())
  }

  /** How many requests there have been. */
  get requests(): number {
    return this.#requests
  }

  /** The answer to the request that is under way, or else to the next one, is the last. `onIdle`: there is none. */
  endSoon(onIdle: () => void): void {
    this.#isEnding = true
    if (this.#current === undefined) onIdle()
    else if (this.#current.isBegun) this.#onIdle = onIdle
    else this.#current.isLast = true
  }

  /** Says that nothing more will come, and gives the other side time to say so too. */
  end(): void {
    this.#isOver = true
    this.#unread.drop()
    this.#resume()
    if (this.socket.writableEnded) return
    this.socket.end()
    const timer = setTimeout(() => this.socket.destroy(), lingerTime)
    this.socket.on('close', () => clearTimeout(timer))
  }

  /** Cuts off a client that is too slow, does not take its answer, or has had one and asks for nothing more. */
  check(now: number, { headers, request, idle, stall }: Times): void {
    if (this.#isHandedOver || this.#isTaking(now, stall)) return
    const waited = now - this.#since
    if (this.#current === undefined && !this.#isOver) {
      const hasAsked = this.#requests > 0 && this.#unread.size === 0
      if (hasAsked && waited >= idle) this.socket.destroy()
      else if (!hasAsked && waited >= headers) this.#refuse(refusals.late)
    } else if (this.#body?.isWhole === false && waited >= request) this.#fail(this.#body)
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

  readonly #onData = (part: Buffer): void => {
    if (this.#isOver) return
    if (this.#current === undefined && this.#unread.size === 0) this.#since = performance.now()
    this.#unread.add(part)
    if (this.#current === undefined) this.#readLater()
    else this.#read()
  }

  /** Reads when all connections have received what arrived in this turn. */
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

  /** Reads on, as far as what has come goes. */
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
    const head = text === false ? refusals.bad : parseHead(text)
    if (typeof head === 'string') this.#refuse(head)
    else this.#begin(head)
  }

  #begin(head: RequestHead): void {
    const body = hasBody(head) ? this.#bodyOf(head) : undefined
    const upgrade = body === undefined ? this.#upgradeOf(head) : undefined
    // Who asks to switch protocols may send something else than requests from then on.
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

  /** A body that breaks off is its reader's to answer; where there is an answer already, it was the last. */
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

  /** The next request gets a turn of its own: a client that sends many at once does not keep others waiting. */
  #goOnIfDone(): void {
    if (this.#isOver || !this.#current?.isFlushed || this.#body?.isWhole === false) return
    // Who asks on and on and takes no answer is not read.
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

  /** Answers what is no request, and ends the connection. */
  #refuse(status: Refusal): void {
    if (this.socket.writable) this.socket.write(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    this.end()
  }

  #upgradeOf({ upgrade, target }: RequestHead): UpgradeRequest | undefined {
    if (upgrade === undefined || !this.#owner.maySwitch(target)) return undefined
    return { protocols: upgrade, switch: (headers) => this.#handOver(headers) }
  }

  /** From here on the connection carries nothing of HTTP. */
  #handOver(headers: ResponseHeaders): Duplex {
    const { socket } = this
    socket.off('data', this.#onData)
    // It flows no longer until its new reader comes.
    Object.assign(socket, { readableFlowing: null })
    if (this.#unread.size > 0) socket.unshift(this.#unread.bytes)
    this.#isHandedOver = true
    this.#isOver = true
    socket.write(answerHead(101, ['connection', 'Upgrade', ...headers]), 'latin1')
    return socket
  }

  #leave(): void {
    // A request that has arrived as a whole is handled, although nobody may be left to read its answer.
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

/** An answer of which the client takes nothing. */
interface Untaken {
  /** How much it had taken. */
  readonly bytesWritten: number
  readonly since: number
}
