/**
 * Handles an HTTP/2 connection that Node reads: its requests and timeouts. `check` is called periodically. It closes
 * connections without requests, idle connections, connections with unfinished headers, and responses that the client
 * does not read.
 */
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { lingerTime, maxHeaderBytes, maxParsedHeaders, maxStreams, resets } from '../connection-limits.ts'
import type { Http2Link, Http2Owner } from '../engine.ts'
import { readHead } from '../http2/head.ts'
import type { Peer } from '../server-transport.ts'
import { NodeHttp2Transport } from './http2-transport.ts'

/** Size of the flow-control window for all request bodies of a connection. */
const connectionWindow = 256 * 1024

const options = {
  settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
  maxHeaderListPairs: maxParsedHeaders,
  // Disable strict validation, so that Node reports headers with surrounding whitespace instead of dropping them. A
  // request could otherwise lose the name of the user to impersonate.
  strictFieldWhitespaceValidation: false,
  streamResetBurst: resets.burst,
  streamResetRate: resets.perSecond,
}

export class NodeHttp2Connection implements Http2Link {
  readonly #session: ServerHttp2Session
  readonly #peer: Peer
  readonly #owner: Http2Owner
  readonly #streams = new Set<ServerHttp2Stream>()
  /** Streams whose client had response data left to read at the last check. */
  readonly #waiting = new WeakSet<ServerHttp2Stream>()
  /** The ID of the last stream that Node has reported or rejected. */
  #lastStream = 0
  /** Time when the last request ended, or when the connection started. */
  #idleSince = performance.now()
  #isUsed = false
  /** Time when `check` first found incomplete headers. */
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
    // Ignore the error of a reset stream, because the stream is also closed.
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

  /** Closes an idle connection. A connection that carries data but no requests also counts as idle. */
  #checkIdle(idleMs: number): void {
    const { idle, headers } = this.#owner.times
    const allowed = this.#isUsed ? idle : headers
    if (idleMs > allowed + lingerTime) this.#session.destroy()
    else if (idleMs > allowed) this.#session.close()
  }

  /**
   * Returns whether the client started to send headers long ago and has not finished. Node counts a stream from its
   * first frame, but reports it only when its headers are complete. A stream that Node has rejected looks the same.
   * However, a client whose headers are complete can respond to a ping, whereas a client that is still sending headers
   * may not send any other frame.
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

  /**
   * Sets a timeout on a stream whose client still has data to read. Node restarts the timeout whenever the client makes
   * progress.
   */
  #checkAnswer(stream: ServerHttp2Stream): void {
    if (stream.writableLength === 0) {
      if (this.#waiting.delete(stream)) stream.setTimeout(0)
    } else if (!this.#waiting.has(stream)) {
      this.#waiting.add(stream)
      stream.setTimeout(this.#owner.times.stall, () => stream.writableLength > 0 && this.#giveUp(stream))
    }
  }

  /**
   * Closes a stream whose response the client does not read. If it is the only stream, closes the connection too,
   * because such a client is unlikely to send another request.
   */
  #giveUp(stream: ServerHttp2Stream): void {
    if (this.#streams.size === 1) this.#session.destroy()
    else stream.close(constants.NGHTTP2_CANCEL)
  }
}

const nothing = Buffer.alloc(0)
const noRequest = { method: '', target: '', rawHeaders: [] }
