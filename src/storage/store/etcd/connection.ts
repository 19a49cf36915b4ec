/**
 * The cluster as one thing to talk to: picks a member, stays with it while it serves, and moves on when it does not.
 *
 * Every call ends by its deadline. A read is tried again on the next member until then; a write only when the first
 * try surely had no effect, since a second one could answer for the wrong write. A member is taken on only when it says
 * that it belongs to the same cluster, votes and knows a leader.
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
  /** How long a call may take, with everything it tries. */
  readonly deadlineMs: number
  /** Told the version of each member that is taken on. */
  readonly onVersion?: (version: string) => void
}

/** A session as far as a check of it needs one. */
export type CheckedSession = Pick<Session, 'call'>

export interface CallOptions {
  /** A write is never repeated when it may have had an effect. */
  readonly effect: 'read' | 'write'
  /** Called before the request is sent on a session, each time. What it throws ends the call, or has it tried again. */
  readonly check?: (session: CheckedSession, deadline: number) => Promise<void> | undefined
  /** On the monotonic clock; `deadlineMs` from now if absent. */
  readonly deadline?: number
}

const firstPauseMs = 50
const longestPauseMs = 1_000

export class Connection {
  readonly deadlineMs: number
  readonly #endpoints: readonly URL[]
  readonly #tls: Tls | undefined
  readonly #onVersion: (version: string) => void
  readonly #closing = new AbortController()
  /** Every session that is open; the current one is for new calls, others finish what is under way. */
  readonly #sessions = new Set<Session>()
  #current: Session | undefined
  #connecting: Promise<Session> | undefined
  /** The member to try next. */
  #turn = 0
  #failures = 0
  #refusal: string | undefined
  #clusterId: bigint | undefined

  constructor({ endpoints, tls, deadlineMs, onVersion = () => {} }: ConnectionOptions) {
    if (endpoints.length === 0) throw new StoreError('no etcd endpoints')
    this.#endpoints = endpoints.map((endpoint) => parseEndpoint(endpoint, tls))
    this.#tls = tls
    this.#onVersion = onVersion
    this.deadlineMs = deadlineMs
  }

  /** Why the last round over the members came to nothing; undefined: it did not, or none has ended yet. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  get signal(): AbortSignal {
    return this.#closing.signal
  }

  /** One request and its answer. Throws CallError: what it means for the store is said in failure.ts. */
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

  /** One request and a stream of messages, until the member ends it or `signal` aborts. Never tried again. */
  async *stream(method: Method, request: Buffer, signal: AbortSignal): AsyncGenerator<Buffer> {
    const session = await this.#acquire(performance.now() + this.deadlineMs)
    try {
      yield* session.stream(method, request, AbortSignal.any([signal, this.signal]))
    } catch (error) {
      if (error instanceof CallError && mayRepeat(error, 'read')) this.#leave(session)
      throw error
    }
  }

  /** Gives up the member in use, so that the next call goes to another one. */
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
      const error = new CallError(`no connection to etcd before the deadline${before}`, { sent: false })
      timer = setTimeout(() => reject(error), Math.max(0, deadline - performance.now()))
    })
    try {
      return await Promise.race([connecting, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** One round over the members; the first that serves is the current one from now on. */
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
    this.#refusal = `no member of etcd can be used: ${reasons.join('; ')}`
    throw new CallError(this.#refusal, { sent: false })
  }

  async #enter(endpoint: URL): Promise<Session> {
    const connectMs = Math.max(500, this.deadlineMs / 2 / this.#endpoints.length)
    const session = await Session.open({ endpoint, tls: this.#tls, connectMs, signal: this.signal })
    // One that does not answer is among those that are ended with the connection.
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
    if (member.leader === 0n) throw new CallError('the member knows no leader', { sent: false })
    if (member.learner) throw new CallError('the member is a learner', { sent: false })
    this.#clusterId ??= member.clusterId
    if (member.clusterId !== this.#clusterId) {
      throw new CallError('the member belongs to another cluster than those before it', { sent: false })
    }
    this.#onVersion(member.version)
  }

  // With one member there is nowhere to go while its session still works.
  #leave(session: Session): void {
    if (this.#current !== session || (session.usable && this.#endpoints.length === 1)) return
    this.#current = undefined
    this.#turn++
    session.retire()
  }

  #forgetDead(): void {
    for (const session of this.#sessions) if (session.gone) this.#sessions.delete(session)
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.signal }).catch(() => {
      throw new CallError('the connection is closed', { sent: false })
    })
  }
}

/** Safe to try again: a read always when the member is at fault, a write only when it surely had no effect. */
function mayRepeat(error: CallError, effect: 'read' | 'write'): boolean {
  if (error instanceof MessageTooLarge) return false
  if (!error.sent) return true
  if (refusedUpFront(error)) return true
  return effect === 'read' && (error.code === undefined || error.code === status.unavailable)
}

// Said by a member before it proposes anything: it has no leader (we ask it to check), or its queue is full.
function refusedUpFront(error: CallError): boolean {
  if (error.code === status.unavailable) return error.message === 'etcdserver: no leader'
  return error.code === status.resourceExhausted && error.message === 'etcdserver: too many requests'
}

function parseEndpoint(endpoint: string, tls: Tls | undefined): URL {
  const text = endpoint.includes('://') ? endpoint : `${tls ? 'https' : 'http'}://${endpoint}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '' || url.pathname !== '/') {
    throw new StoreError(`not an etcd endpoint: ${JSON.stringify(shorten(endpoint, 200))}`)
  }
  return url
}

function pauseMs(failures: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures, 10)) * (0.75 + Math.random() / 4)
}
