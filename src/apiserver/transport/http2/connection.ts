/**
 * Serves one HTTP/2 connection: reads requests, dispatches them and sends their responses. The connection has no
 * timers. `check` is called periodically and closes connections without requests, idle connections, connections with
 * unfinished headers, and responses that the client does not read.
 *
 * The windows for bodies and the maximum number of concurrent requests limit the memory that a client can occupy. The
 * server also stops reading from a client that does not read responses. The server disconnects a client if its requests
 * are cancelled or rejected at a higher rate than any real client needs, or if it sends more frames without a request
 * or body data than `idleFrames` allows.
 */
import type { Socket } from 'node:net'
import { TokenBucket } from '../../../base/limits/token-bucket.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { assertFits, dateHeader } from '../../../wire/http/answer-headers.ts'
import { Http2Connection } from '../../../wire/http2/connection.ts'
import {
  type ErrorCode,
  errorCodes,
  type FrameHead,
  firstWindow,
  flags,
  frame,
  frameTypes,
  MalformedHttp2,
  preface,
  settings,
  settingsFrame,
} from '../../../wire/http2/frames.ts'
import { maxEncodedBytes, rememberNothing, writeHeaders } from '../../../wire/http2/header-block.ts'
import {
  frameEarnings,
  idleFrames,
  lingerTime,
  maxDropped,
  maxHeaderBytes,
  maxParsedHeaders,
  maxStreams,
  maxUntakenByStrangers,
  resets,
} from '../connection-limits.ts'
import type { Http2Link, Http2Owner } from '../engine.ts'
import type { Peer, ResponseHeaders } from '../server-transport.ts'
import { Http2Body } from './body.ts'
import { readHead } from './head.ts'
import { type AnswerConnection, Http2Transport } from './transport.ts'

/** The size of the flow-control window for the body of one request. */
const streamWindow = firstWindow
const connectionWindow = 4 * streamWindow

const limits = {
  blockBytes: maxHeaderBytes,
  headers: { remembered: 4096, count: maxParsedHeaders, bytes: maxHeaderBytes },
}

export class ServerConnection extends Http2Connection<Http2Transport> implements AnswerConnection, Http2Link {
  readonly peer: Peer
  readonly #owner: Http2Owner
  /** The highest stream ID that the client has used. */
  #lastId = 0
  /** Whether the server has sent GOAWAY, so that new requests are ignored. */
  #isClosing = false
  /**
   * Body bytes that count against the connection's flow-control window, and the number of these bytes that handlers
   * have read.
   */
  #received = 0
  #returnable = 0
  /** Whether to announce, with the next headers, that the server uses no dynamic table. */
  #tellsMemory = true
  readonly #resets = new TokenBucket(resets, systemClock.monotonic)
  readonly #idleFrames = new TokenBucket(idleFrames, systemClock.monotonic)
  /** Time when the last request ended, or when the connection started. */
  #idleSince = performance.now()
  /** Time when `check` first detected incomplete headers. */
  #headersSince: number | undefined
  /** Progress of the client: the amount of response data that it had read, and when that amount last changed. */
  #stalled: { readonly bytesWritten: number; readonly since: number } | undefined

  constructor(socket: Socket, peer: Peer, owner: Http2Owner) {
    super(socket, limits, preface)
    this.peer = peer
    this.#owner = owner
    // When the client closes its side, close the server's side too. TLS does not support half-closed connections.
    socket.on('end', () => socket.destroy())
    socket.on('close', () => this.#leave())
    this.outgoing.add(
      settingsFrame([
        [settings.maxConcurrentStreams, maxStreams],
        [settings.maxHeaderListSize, maxHeaderBytes],
      ]),
    )
    this.sendNumber({ type: frameTypes.window }, connectionWindow - firstWindow)
  }

  /** Rejects new requests. Running requests are completed. */
  close(): void {
    if (this.#isClosing || this.socket.destroyed) return
    this.#isClosing = true
    this.#sayGoodbye(errorCodes.none)
    this.#endIfDone()
  }

  check(now: number): void {
    if (this.socket.destroyed) return
    const { headers, stall } = this.#owner.times
    this.#headersSince = this.isInHeaders ? (this.#headersSince ?? now) : undefined
    if (now - (this.#headersSince ?? now) > headers || this.#isStalled(now, stall)) this.socket.destroy()
    else if (this.streams.size === 0) this.#checkIdle(now - this.#idleSince)
    else for (const stream of this.streams.values()) this.#checkAnswer(stream, now, stall)
  }

  sendHead(stream: Http2Transport, status: number, headers: ResponseHeaders): void {
    const all = [':status', String(status), ...headers]
    let hasDate = false
    for (let i = 0; i < headers.length; i += 2) {
      assertFits(headers[i]!, headers[i + 1]!)
      if (headers[i] === 'date') hasDate = true
    }
    if (!hasDate) all.push('date', dateHeader())
    this.sendHeaders(stream, this.#block(all))
  }

  sendPart(stream: Http2Transport, bytes: Buffer): void {
    this.sendData(stream, bytes)
  }

  cut(stream: Http2Transport): void {
    this.#reset(stream, errorCodes.internal)
  }

  #block(headers: readonly string[]): Buffer {
    const most = 1 + maxEncodedBytes(headers)
    const into = most <= scratch.length ? scratch : Buffer.allocUnsafe(most)
    if (this.#tellsMemory) into[0] = rememberNothing
    const end = writeHeaders(into, this.#tellsMemory ? 1 : 0, headers)
    this.#tellsMemory = false
    return into.subarray(0, end)
  }

  protected onMalformed(error: Error): void {
    this.#giveUp(error instanceof MalformedHttp2 ? error.code : errorCodes.internal)
  }

  protected streamOf(id: number): Http2Transport | undefined {
    if (id % 2 === 0 || id > this.#lastId) throw new MalformedHttp2(`unexpected frame on stream ${id}`)
    return this.streams.get(id)
  }

  protected onHeaders(head: Required<FrameHead>, headers: string[] | undefined): void {
    const { stream: id } = head
    const isNew = id > this.#lastId
    if (isNew) this.#lastId = id
    const stream = this.streamOf(id)
    if (stream !== undefined) this.#onTrailers(stream, head)
    else if (!isNew || this.#isClosing) this.onIdleFrames(1)
    else if (this.streams.size >= maxStreams) {
      this.sendReset(id, errorCodes.refusedStream)
      this.#countReset()
    } else this.#begin(head, headers)
  }

  #begin(head: Required<FrameHead>, headers: string[] | undefined): void {
    this.#idleFrames.add(frameEarnings.request)
    const request = headers && readHead(headers)
    const body = isLast(head) ? undefined : new Http2Body((bytes) => this.#consumed(stream, bytes))
    const stream = new Http2Transport(this, request ?? noRequest, body)
    this.begin(stream, head.stream)
    if (request !== undefined) this.#owner.onRequest(stream)
    else stream.send(headers === undefined ? 431 : 400, ['content-length', '0'], nothing)
  }

  /** Handles trailers. Their only effect is to end the body. */
  #onTrailers(stream: Http2Transport, head: Required<FrameHead>): void {
    if (isLast(head) && !stream.bodyWhole) stream.incoming?.end()
    else this.#refuse(stream, errorCodes.protocol)
  }

  protected onBody(head: Required<FrameHead>, data: Buffer, length: number): void {
    const stream = this.streamOf(head.stream)
    this.#received += length
    if (this.#received > connectionWindow) throw overflow()
    if (stream === undefined) {
      this.onIdleFrames(1)
      this.#giveBack(length)
      return
    }
    if (data.length === 0 && !isLast(head)) this.onIdleFrames(1)
    stream.received += length
    if (stream.received > streamWindow) throw overflow()
    if (stream.incoming === undefined || stream.incoming.isWhole) {
      this.#refuse(stream, errorCodes.protocol)
      return
    }
    if (length > data.length) this.#consumed(stream, length - data.length)
    if (data.length > 0) stream.incoming.receive(data)
    if (isLast(head)) stream.incoming.end()
  }

  protected onReset(stream: Http2Transport | undefined): void {
    if (stream !== undefined) this.#end(stream)
    this.#countReset()
  }

  protected onSetting(id: number, value: number): void {
    if (id === settings.headerTableSize) this.#tellsMemory = true
    if (id === settings.enablePush && value > 1) throw new MalformedHttp2(`invalid ENABLE_PUSH value ${value}`)
  }

  protected onSettings(): void {}

  /** Handles the client's announcement that it will start no more requests. Running requests are completed. */
  protected onGoAway(): void {}

  /**
   * Handles the end of a response. Resets the stream if the client is still sending a body, because no handler reads
   * it.
   */
  protected onEnded(stream: Http2Transport): void {
    if (!stream.bodyWhole) this.sendReset(stream.id, errorCodes.none)
    this.#end(stream)
  }

  /** Reopens the flow-control windows, in batches, by the number of bytes that a handler has read. */
  #consumed(stream: Http2Transport, bytes: number): void {
    stream.returned += bytes
    if (stream.returned >= streamWindow / 2 && !stream.bodyWhole && this.streams.has(stream.id)) {
      this.sendNumber({ type: frameTypes.window, stream: stream.id }, stream.returned)
      stream.received -= stream.returned
      stream.returned = 0
    }
    this.#giveBack(bytes)
  }

  #giveBack(bytes: number): void {
    this.#returnable += bytes
    if (this.#returnable < connectionWindow / 2) return
    this.sendNumber({ type: frameTypes.window }, this.#returnable)
    this.#received -= this.#returnable
    this.#returnable = 0
  }

  /** Rejects a request after a protocol violation by the client on its stream. */
  #refuse(stream: Http2Transport, code: ErrorCode): void {
    this.#reset(stream, code)
    this.#countReset()
  }

  #reset(stream: Http2Transport, code: ErrorCode): void {
    this.sendReset(stream.id, code)
    this.#end(stream)
  }

  #end(stream: Http2Transport): void {
    this.forget(stream)
    stream.leave()
    this.#idleSince = performance.now()
    this.#endIfDone()
  }

  #countReset(): void {
    if (!this.#resets.spend(1)) this.#giveUp(errorCodes.excess)
  }

  protected override get maxUntaken(): number {
    return this.peer.isProved ? super.maxUntaken : maxUntakenByStrangers
  }

  protected override onIdleFrames(count: number): void {
    if (!this.#idleFrames.spend(count)) throw new MalformedHttp2('too many frames', errorCodes.excess)
  }

  protected override onBodySent(bytes: number): void {
    const { answerFrame, usefulFrameBytes, answerKiB } = frameEarnings
    this.#idleFrames.add(Math.min(1, bytes / usefulFrameBytes) * answerFrame + (bytes / 1024) * answerKiB)
  }

  #sayGoodbye(code: ErrorCode): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(this.#lastId, 0)
    payload.writeUInt32BE(code, 4)
    this.outgoing.add(frame({ type: frameTypes.goaway }, payload))
  }

  /** Sends the error code to the client, and closes the connection. */
  #giveUp(code: ErrorCode): void {
    if (this.socket.destroyed) return
    this.stopReading(maxDropped)
    this.#sayGoodbye(code)
    this.#hangUp()
    this.#leave()
  }

  #endIfDone(): void {
    if (this.#isClosing && this.streams.size === 0) this.#hangUp()
  }

  /** Closes the server's side of the connection, and gives the client time to close its side. */
  #hangUp(): void {
    if (this.socket.writableEnded) return
    this.outgoing.flush()
    this.socket.end()
    const timer = setTimeout(() => this.socket.destroy(), lingerTime)
    this.socket.on('close', () => clearTimeout(timer))
  }

  #leave(): void {
    for (const stream of this.streams.values()) {
      this.forget(stream)
      stream.leave()
    }
  }

  /** Closes a connection without requests after the idle timeout, even if it carries other frames. */
  #checkIdle(idleMs: number): void {
    const { idle, headers } = this.#owner.times
    const allowed = this.#lastId > 0 ? idle : headers
    if (idleMs > allowed + lingerTime) this.socket.destroy()
    else if (idleMs > allowed) this.close()
  }

  /** Returns whether the client has stopped reading. */
  #isStalled(now: number, stall: number): boolean {
    const { bytesWritten } = this.socket
    if (this.socket.writableLength === 0) this.#stalled = undefined
    else if (this.#stalled?.bytesWritten !== bytesWritten) this.#stalled = { bytesWritten, since: now }
    return this.#stalled !== undefined && now - this.#stalled.since >= stall
  }

  /**
   * Checks a pending response. If the client does not read the response, closes the stream. If it is the only stream,
   * closes the connection too, because such a client is unlikely to send another request.
   */
  #checkAnswer(stream: Http2Transport, now: number, stall: number): void {
    const { unsent, stalled } = stream
    if (unsent === 0) stream.stalled = undefined
    else if (stalled?.unsent !== unsent) stream.stalled = { unsent, since: now }
    else if (now - stalled.since >= stall) {
      if (this.streams.size === 1) this.socket.destroy()
      else this.#reset(stream, errorCodes.cancel)
    }
  }
}

const nothing = Buffer.alloc(0)
const noRequest = { method: '', target: '', rawHeaders: [] }
/** Buffer for encoding headers. All connections share it, because each result is copied immediately. */
const scratch = Buffer.allocUnsafeSlow(16 * 1024)

function isLast({ flags: set }: Required<FrameHead>): boolean {
  return (set & flags.endStream) !== 0
}

function overflow(): MalformedHttp2 {
  return new MalformedHttp2('data exceeds the flow-control window', errorCodes.flowControl)
}
