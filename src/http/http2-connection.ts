/**
 * One connection of HTTP/2: what its client has under way, and whether it is time to end it. It has no timers of its
 * own: `check` is called from time to time, and ends a connection on which no request comes, one that has been without
 * a request for long, one whose headers do not end, and answers that their client does not take.
 */
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import { lingerTime, type Times } from './connection-limits.ts'
import type { Peer } from './exchange.ts'

const cancel = 8

export class Http2Connection {
  readonly peer: Peer
  readonly #session: ServerHttp2Session
  readonly #times: Times
  readonly #open = new Set<ServerHttp2Stream>()
  /** Answers that had not been taken when last looked at. */
  readonly #waiting = new WeakSet<ServerHttp2Stream>()
  /** The last stream whose headers are complete, or of which they are known not to be awaited. */
  #lastStream = 0
  /** When its last request was over; at first when it began. */
  #idleSince = performance.now()
  #used = false
  /** When it was first seen that headers have begun and not ended. */
  #headersSince: number | undefined

  constructor(session: ServerHttp2Session, peer: Peer, times: Times) {
    this.#session = session
    this.peer = peer
    this.#times = times
  }

  begin(stream: ServerHttp2Stream): void {
    this.#used = true
    this.#lastStream = Math.max(this.#lastStream, stream.id ?? 0)
    this.#open.add(stream)
    stream.on('close', () => this.#end(stream))
  }

  /** No further requests; those under way are answered. */
  close(): void {
    this.#session.close()
  }

  check(now: number): void {
    if (this.#session.destroyed) return
    if (this.#isStuck(now)) this.#session.destroy()
    else if (this.#open.size === 0) this.#checkIdle(now - this.#idleSince)
    else for (const stream of this.#open) this.#checkAnswer(stream)
  }

  #end(stream: ServerHttp2Stream): void {
    this.#open.delete(stream)
    this.#idleSince = performance.now()
  }

  /** A client that sends much, but no request, is idle too. */
  #checkIdle(idleMs: number): void {
    const allowed = this.#used ? this.#times.idle : this.#times.headers
    if (idleMs > allowed + lingerTime) this.#session.destroy()
    else if (idleMs > allowed) this.#session.close()
  }

  /**
   * Whether headers were begun long ago and have not ended. The session knows of a stream from its first frame on, we
   * from the end of its headers. One that the session refused by itself looks the same; but a client whose headers are
   * complete can answer a ping, while in the middle of headers it may send nothing else.
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
    return now - this.#headersSince > this.#times.headers
  }

  /** From the second look on an answer that waits for its client is timed; Node counts only time without progress. */
  #checkAnswer(stream: ServerHttp2Stream): void {
    if (stream.writableLength === 0) {
      if (this.#waiting.delete(stream)) stream.setTimeout(0)
    } else if (!this.#waiting.has(stream)) {
      this.#waiting.add(stream)
      stream.setTimeout(this.#times.stall, () => stream.writableLength > 0 && this.#giveUp(stream))
    }
  }

  /**
   * With its only stream a connection is closed too: a client that does not read one answer will hardly send another
   * request.
   */
  #giveUp(stream: ServerHttp2Stream): void {
    if (this.#open.size === 1) this.#session.destroy()
    else stream.close(cancel)
  }
}
