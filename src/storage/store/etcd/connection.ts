/**
 * A connection to the etcd cluster. The connection uses one member until that member fails, and then switches to
 * another member.
 *
 * Every call ends by its deadline. Before the deadline, a read is retried on the next member. A write is retried only
 * if the first attempt certainly had no effect, because the response to a second attempt could belong to the wrong
 * write. A member is used only if it reports that it belongs to the same cluster, is a voting member and has a leader.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '../../../base/text/errors.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { StoreError } from '../store.ts'
import { CallError, MessageTooLarge, status } from './grpc.ts'
import { decodeStatus, encodeStatus, type Method, methods } from './messages.ts'
import { Session, type Tls } from './session.ts'

export interface ConnectionOptions {
  readonly endpoints: readonly string[]
  readonly tls?: Tls | undefined
  /** Maximum duration of a call in milliseconds, including retries. */
  readonly deadlineMs: number
  /** Called with the etcd version of each member that is used. */
  readonly onVersion?: (version: string) => void
}

/** The session methods that the log check calls. */
export type CheckedSession = Pick<Session, 'call'>

export interface CallOptions {
  /** Whether the call reads or writes. A write that may have had an effect is never repeated. */
  readonly effect: 'read' | 'write'
  /**
   * A check that runs before each attempt to send the request on a session. If the check throws an error, the call
   * fails or is retried.
   */
  readonly check?: (session: CheckedSession, deadline: number) => Promise<void> | undefined
  /** Deadline on the monotonic clock. Defaults to `deadlineMs` from now. */
  readonly deadline?: number
}

const firstPauseMs = 50
const maxPauseMs = 1_000

export class Connection {
  readonly deadlineMs: number
  readonly #endpoints: readonly URL[]
  readonly #tls: Tls | undefined
  readonly #onVersion: (version: string) => void
  readonly #closing = new AbortController()
  /**
   * All open sessions. New calls use the current session. The other sessions stay open only until their active calls
   * are complete.
   */
  readonly #sessions = new Set<Session>()
  #current: Session | undefined
  #connecting: Promise<Session> | undefined
  /** Index of the member to try next. */
  #turn = 0
  #failures = 0
  #refusal: string | undefined
  #clusterId: bigint | undefined

  constructor({ endpoints, tls, deadlineMs, onVersion = () => {} }: ConnectionOptions) {
    if (endpoints.length === 0) throw new StoreError('no etcd endpoints are specified')
    this.#endpoints = endpoints.map((endpoint) => parseEndpoint(endpoint, tls))
    this.#tls = tls
    this.#onVersion = onVersion
    this.deadlineMs = deadlineMs
  }

  /**
   * The error of the last attempt to connect to each member. Undefined if the attempt succeeded or no attempt has ended
   * yet.
   */
  get refusal(): string | undefined {
    return this.#refusal
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** Sends one request and returns its response. Throws CallError, which `failure.ts` converts to a store error. */
  async call(method: Method, request: Buffer, options: CallOptions): Promise<Buffer> {
    const { effect, check, deadline = performance.now() + this.deadlineMs } = options
    for (let attempt = 0; ; attempt++) {
      const session = await this.#acquire(deadline)
      try {
        await check?.(session, deadline)
        return await session.call(method, request, deadline)
      } catch (error) {
        if (!(error instanceof CallError) || !mayRepeat(error, effect)) throw error
        if (performance.now() + pauseMs(attempt) >= deadline || this.signal.aborted) throw error
        this.#leave(session)
        await this.#pause(pauseMs(attempt))
      }
    }
  }

  /**
   * Sends one request and yields messages until the member ends the stream or `signal` aborts. The request is never
   * retried.
   */
  async *stream(method: Method, request: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
    const session = await this.#acquire(performance.now() + this.deadlineMs)
    try {
      yield* session.stream(method, request, AbortSignal.any([signal, this.signal]))
    } catch (error) {
      if (error instanceof CallError && mayRepeat(error, 'read')) this.#leave(session)
      throw error
    }
  }

  /** Switches from the current member to another member for later calls. */
  moveOn(): void {
    if (this.#current) this.#leave(this.#current)
  }

  close(): void {
    this.#closing.abort()
    for (const session of this.#sessions) session.destroy()
    this.#sessions.clear()
    this.#current = undefined
  }

  async #acquire(deadline: number): Promise<Session> {
    for (;;) {
      if (this.signal.aborted) throw new CallError('the connection is closed', { sent: false })
      if (this.#current?.usable) return this.#current
      this.#forgetDead()
      this.#connecting ??= this.#connect().finally(() => {
        this.#connecting = undefined
      })
      try {
        return await this.#within(this.#connecting, deadline)
      } catch (error) {
        const pause = pauseMs(this.#failures)
        if (performance.now() + pause >= deadline) throw error
        await this.#pause(pause)
      }
    }
  }

  async #within(connecting: Promise<Session>, deadline: number): Promise<Session> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const before = this.#refusal ? `; before that: ${this.#refusal}` : ''
      const error = new CallError(`cannot connect to etcd before the deadline${before}`, { sent: false })
      timer = setTimeout(() => reject(error), Math.max(0, deadline - performance.now()))
    })
    try {
      return await Promise.race([connecting, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Tries each member once. The first member that works becomes the current member. */
  async #connect(): Promise<Session> {
    const reasons: string[] = []
    for (let i = 0; i < this.#endpoints.length; i++) {
      const endpoint = this.#endpoints[this.#turn % this.#endpoints.length]!
      try {
        const session = await this.#enter(endpoint)
        this.#failures = 0
        this.#refusal = undefined
        return session
      } catch (error) {
        this.#turn++
        reasons.push(`${endpoint.origin}: ${messageOf(error)}`)
      }
      if (this.signal.aborted) break
    }
    this.#failures++
    this.#refusal = `no usable etcd member: ${reasons.join('; ')}`
    throw new CallError(this.#refusal, { sent: false })
  }

  async #enter(endpoint: URL): Promise<Session> {
    const connectMs = Math.max(500, this.deadlineMs / 2 / this.#endpoints.length)
    const session = await Session.open({ endpoint, tls: this.#tls, connectMs, signal: this.signal })
    // Register the session even if it does not respond, so that `close` also closes this session.
    this.#sessions.add(session)
    try {
      await this.#inspect(session, performance.now() + connectMs)
    } catch (error) {
      this.#sessions.delete(session)
      session.destroy()
      throw error
    }
    this.#current = session
    return session
  }

  async #inspect(session: Session, deadline: number): Promise<void> {
    const member = decodeStatus(await session.call(methods.status, encodeStatus(), deadline))
    if (this.signal.aborted) throw new CallError('the connection is closed', { sent: false })
    if (member.leader === 0n) throw new CallError('the etcd member has no leader', { sent: false })
    if (member.learner) throw new CallError('the etcd member is a learner', { sent: false })
    this.#clusterId ??= member.clusterId
    if (member.clusterId !== this.#clusterId) {
      throw new CallError('the etcd member belongs to a different cluster than the previous members', { sent: false })
    }
    this.#onVersion(member.version)
  }

  // Stops using a session for new calls. If there is only one member, a session that still works remains in use.
  #leave(session: Session): void {
    if (this.#current !== session || (session.usable && this.#endpoints.length === 1)) return
    this.#current = undefined
    this.#turn++
    session.retire()
  }

  #forgetDead(): void {
    for (const session of this.#sessions) if (session.isClosed) this.#sessions.delete(session)
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.signal }).catch(() => {
      throw new CallError('the connection is closed', { sent: false })
    })
  }
}

/**
 * Whether a call can be retried safely. A read can be retried if the member is at fault. A write can be retried only if
 * it certainly had no effect.
 */
function mayRepeat(error: CallError, effect: 'read' | 'write'): boolean {
  if (error instanceof MessageTooLarge) return false
  if (!error.sent) return true
  if (refusedUpFront(error)) return true
  return effect === 'read' && (error.code === undefined || error.code === status.unavailable)
}

// Whether a member rejected a request before proposing it to the cluster, because it has no leader or its queue is
// full.
function refusedUpFront(error: CallError): boolean {
  if (error.code === status.unavailable) return error.message === 'etcdserver: no leader'
  return error.code === status.resourceExhausted && error.message === 'etcdserver: too many requests'
}

function parseEndpoint(endpoint: string, tls: Tls | undefined): URL {
  const text = endpoint.includes('://') ? endpoint : `${tls ? 'https' : 'http'}://${endpoint}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '' || url.pathname !== '/') {
    throw new StoreError(`invalid etcd endpoint: ${JSON.stringify(shorten(endpoint, 200))}`)
  }
  return url
}

function pauseMs(failures: number): number {
  return Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.75 + Math.random() / 4)
}
