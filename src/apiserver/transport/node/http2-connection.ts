/**
 * One connection of HTTP/2 that Node reads: its requests and its times. `check` is called from time to time. It ends a
 * connection on which no request comes, one that has been idle for long, one whose headers do not end, and answers that
 * their client does not take.
 */
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { lingerTime, maxHeaderBytes, maxParsedHeaders, maxStreams, resets } from '../connection-limits.ts'
import type { Http2Link, Http2Owner } from '../engine.ts'
import { readHead } from '../http2/head.ts'
import type { Peer } from '../server-transport.ts'
import { NodeHttp2Transport } from './http2-transport.ts'

/** How much of all bodies of a connection may come ahead of those who read them. */
const connectionWindow = 256 * 1024

const options = {
  settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
  maxHeaderListPairs: maxParsedHeaders,
  // Otherwise Node silently drops a header with blanks around its value, such as the one that names an impersonated user.
  strictFieldWhitespaceValidation: false,
  streamResetBurst: resets.burst,
  streamResetRate: resets.perSecond,
}

export class NodeHttp2Connection implements Http2Link {
  readonly #session: ServerHttp2Session
  readonly #peer: Peer
  readonly #owner: Http2Owner
  readonly #streams = new Set<ServerHttp2Stream>()
  /** Streams whose answer waited for its client at the last check. */
  readonly #waiting = new WeakSet<ServerHttp2Stream>()
  /** The last stream whose headers are complete, or that Node has rejected. */
  #lastStream = 0
  /** When its last request was over; at first when it began. */
  #idleSince = performance.now()
  #isUsed = false
  /** When it was first seen that headers have begun and not ended. */
  #headersSince: number | undefined

  constructor(socket: Socket, peer: Peer, owner: Http2Owner) {
    this.#peer = peer
    this.#owner = owner
    this.#session = performServerHandshake(socket, options)
    this.#session.setLocalWindowSize(connectionWindow)
    this.#session.on('error', () => this.#session.destroy())
    this.#session.on('stream', (stream, _headers, _flags, rawHeaders) => this.#begin(stream, rawHeaders))
  }

  close(): void {
    this.#session.close()
  }

  check(now: number): void {
    if (this.#session.destroyed) return
    if (this.#isStuck(now)) this.#session.destroy()
    else if (this.#streams.size === 0) this.#checkIdle(now - this.#idleSince)
    else for (const stream of this.#streams) this.#checkAnswer(stream)
  }

  #begin(stream: ServerHttp2Stream, rawHeaders: readonly string[]): void {
    // A stream that is reset also emits an error. That it closes is what counts.
    stream.on('error', () => {})
    this.#isUsed = true
    this.#lastStream = Math.max(this.#lastStream, stream.id ?? 0)
    this.#streams.add(stream)
    stream.on('close', () => this.#end(stream))
    const head = readHead(rawHeaders)
    const transport = new NodeHttp2Transport(stream, head ?? noRequest, this.#peer)
    if (head !== undefined) this.#owner.onRequest(transport)
    else transport.send(400, ['content-length', '0'], nothing)
  }

  #end(stream: ServerHttp2Stream): void {
    this.#streams.delete(stream)
    this.#idleSince = performance.now()
  }

  /** A client that sends much, but no request, is idle too. */
  #checkIdle(idleMs: number): void {
    const { idle, headers } = this.#owner.times
    const allowed = this.#isUsed ? idle : headers
    if (idleMs > allowed + lingerTime) this.#session.destroy()
    else if (idleMs > allowed) this.#session.close()
  }

  /**
   * Whether headers were begun long ago and have not ended. Node counts a stream from its first frame on and reports it at
   * the end of its headers. A stream that Node has rejected looks the same. But a client whose headers are complete can
   * answer a ping, while in the middle of headers it may send nothing else.
   */
  #isStuck(now: number): boolean {
    const begun = this.#session.state.lastProcStreamID ?? 0
    if (begun <= this.#lastStream) {
      this.#headersSince = undefined
      return false
    }
    if (this.#headersSince === undefined) {
      this.#headersSince = now
      this.#session.ping((error) => {
        if (error === null) this.#lastStream = Math.max(this.#lastStream, begun)
      })
    }
    return now - this.#headersSince > this.#owner.times.headers
  }

  /** From the second check on an answer that waits for its client is timed. Node counts only time without progress. */
  #checkAnswer(stream: ServerHttp2Stream): void {
    if (stream.writableLength === 0) {
      if (this.#waiting.delete(stream)) stream.setTimeout(0)
    } else if (!this.#waiting.has(stream)) {
      this.#waiting.add(stream)
      stream.setTimeout(this.#owner.times.stall, () => stream.writableLength > 0 && this.#giveUp(stream))
    }
  }

  /** Closes the connection with its only stream: a client that does not read one answer will hardly ask again. */
  #giveUp(stream: ServerHttp2Stream): void {
    if (this.#streams.size === 1) this.#session.destroy()
    else stream.close(constants.NGHTTP2_CANCEL)
  }
}

const nothing = Buffer.alloc(0)
const noRequest = { method: '', target: '', rawHeaders: [] }
