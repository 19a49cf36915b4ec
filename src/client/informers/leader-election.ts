/**
 * Elects one of several programs by a Lease, so that one at a time does some work. The leader renews the Lease; who does
 * not renew it in time has lost it, and another takes it.
 *
 * Whether a Lease has run out each program judges by its own clock that only ever rises: by how long it has seen the
 * Lease unchanged, never by the times that are written in it. A leader that could not renew for `renewDeadlineMs` stops
 * at once, which is before anybody else may begin. `mayGoOn` is asked before every request of the work, so a process
 * that was stopped for longer than its Lease sends nothing when it goes on. A request that was under way at that moment
 * may still arrive: work that must not happen twice writes with preconditions.
 */

import type { Lease } from '../../api/kinds/coordination/lease.ts'
import { pause, withDeadline } from '../../base/concurrency/abort.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import * as kinds from '../requests/built-in-kinds.ts'
import type { Client } from '../requests/client.ts'
import type { ObjectName } from '../requests/resource-type.ts'
import { isConflict, isNotFound, StatusError } from '../requests/status-error.ts'
import { type Transport, TransportError } from '../requests/transport.ts'

/** Which Lease, who stands for election, and how patient it is. */
export interface ElectionOptions {
  readonly client: Client
  readonly lease: ObjectName
  /** Who this is: no two programs have the same. */
  readonly identity: string
  /** A lease of 15 seconds, renewed within 10, tried every 2 by default. */
  readonly timing?: ElectionTiming
  /** The clock of this machine by default. */
  readonly clock?: Clock
  /** Told of what went wrong; the election goes on. */
  readonly onError: (error: unknown) => void
  /** Told when somebody else is seen to lead. */
  readonly onLeader?: (identity: string) => void
}

const defaults = {
  clock: systemClock as Clock,
  timing: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
}

/** How long a lease lasts, and how often it is renewed and tried for. */
export interface ElectionTiming {
  /** How long others wait, once they have seen the Lease, before they take it. */
  readonly leaseDurationMs: number
  /** How long the leader tries to renew before it gives up; shorter than that. */
  readonly renewDeadlineMs: number
  /** How often it is tried to get the Lease, or to renew it. */
  readonly retryPeriodMs: number
}

/** The time of being the leader. */
export interface Term {
  /** Aborts when it is over. */
  readonly signal: AbortSignal
  /** Whether it is not over: by the clock, which is exact where the signal may be late. */
  mayGoOn(): boolean
}

/** What is wrong with these times; undefined where nothing is. */
export function timingFault({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTiming): string | undefined {
  if (leaseDurationMs <= renewDeadlineMs) return 'the lease duration must be longer than the renew deadline'
  if (renewDeadlineMs <= retryPeriodMs * 1.2) return 'the renew deadline must be longer than 1.2 times the retry period'
  return retryPeriodMs > 0 && leaseDurationMs >= 1000 ? undefined : 'the lease duration must be at least 1s'
}

/**
 * Waits until this program leads, and calls `work`. Resolves when the work has ended after the Lease was lost (true), or
 * after the signal has aborted (false); then the Lease is given up, so that another need not wait.
 */
export async function leadOnce(
  options: ElectionOptions,
  work: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const candidate = new Candidate({ ...defaults, ...options })
  if (!(await candidate.acquire(signal))) return false
  const over = new AbortController()
  const end = () => over.abort(new TransportError('this program no longer leads'))
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const term = { signal: over.signal, mayGoOn: () => !over.signal.aborted && candidate.isCurrent() }
  // Work that ends, or fails, ends the term. Its failure is passed on when the renewal has ended.
  const working = work(term).finally(end)
  working.catch(() => {})
  await candidate.renewUntil(over.signal)
  end()
  signal.removeEventListener('abort', end)
  await working
  if (!signal.aborted) return true
  await candidate.release()
  return false
}

/** A transport that sends nothing any more when the term is over. */
export function withinTerm(transport: Transport, term: Term): Transport {
  return async (request) => {
    if (!term.mayGoOn()) throw new TransportError('this program no longer leads')
    return await transport({ ...request, signal: AbortSignal.any([request.signal, term.signal]) })
  }
}

interface Seen {
  readonly lease: Lease
  readonly since: number
}

class Candidate {
  readonly #options: ElectionOptions & typeof defaults
  #seen: Seen | undefined
  /** When the request was sent by which the Lease was last got or renewed. */
  #heldSince = Number.NEGATIVE_INFINITY
  #leader = ''

  constructor(options: ElectionOptions & typeof defaults) {
    this.#options = options
  }

  /** Whether it is sure that nobody else has taken the Lease. */
  isCurrent(): boolean {
    return this.#now() < this.#heldSince + this.#options.timing.renewDeadlineMs
  }

  /** Resolves true when the Lease is held, false when the signal has aborted. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { retryPeriodMs } = this.#options.timing
    while (!signal.aborted) {
      if (await this.#tryOnce(signal)) return true
      // Spread, so that candidates that began together do not all ask together.
      await pause(retryPeriodMs * (1 + Math.random() * 0.2), signal)
    }
    return false
  }

  /** Renews again and again. Resolves when the Lease is lost, or the signal has aborted. */
  async renewUntil(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options.timing
    while (!signal.aborted && this.isCurrent()) {
      const left = this.#heldSince + renewDeadlineMs - this.#now()
      await pause(Math.min(retryPeriodMs, left), signal)
      if (!signal.aborted && this.isCurrent()) await this.#tryOnce(signal)
    }
  }

  /** Lets the next one take it at once. */
  async release(): Promise<void> {
    const { client, identity, timing } = this.#options
    const held = this.#seen?.lease
    if (held?.spec?.holderIdentity !== identity) return
    const spec = { ...held.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#timestamp() }
    try {
      const late = () => new TransportError('the lease could not be given up in time')
      await withDeadline({ ms: timing.retryPeriodMs, outer: undefined, late }, (signal) =>
        client.update(kinds.Lease, { ...held, spec }, { signal }),
      )
    } catch (error) {
      // Nothing depends on it: it runs out by itself.
      this.#options.onError(error)
    }
  }

  /** Whether the Lease is held afterwards. Each attempt has as much time as is left to a leader, or one period. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options.timing
    const began = this.#now()
    const ms = this.isCurrent() ? this.#heldSince + renewDeadlineMs - began : Math.max(retryPeriodMs, 1000)
    const late = () => new TransportError('the lease was not answered in time')
    try {
      const isHeld = await withDeadline({ ms, outer: signal, late }, (bounded) => this.#attempt(began, bounded))
      if (isHeld) this.#heldSince = began
      return isHeld
    } catch (error) {
      if (!signal.aborted && !isConflict(error)) this.#options.onError(error)
      return false
    }
  }

  async #attempt(now: number, signal: AbortSignal): Promise<boolean> {
    const { client, lease: name, identity } = this.#options
    const found = await client.get(kinds.Lease, name, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    if (found === undefined) return await this.#create(signal)
    if (this.#seen?.lease.metadata.resourceVersion !== found.metadata.resourceVersion || !this.#sameUid(found))
      this.#seen = { lease: found, since: now }
    const { holderIdentity = '' } = found.spec ?? {}
    if (holderIdentity !== identity && holderIdentity !== '' && now < this.#endOf(found)) {
      this.#tellLeader(holderIdentity)
      return false
    }
    const updated = await client.update(kinds.Lease, { ...found, spec: this.#nextSpec(found) }, { signal })
    this.#seen = { lease: updated, since: now }
    this.#tellLeader(identity)
    return true
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const { client, lease, identity, timing } = this.#options
    const time = this.#timestamp()
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(timing.leaseDurationMs / 1000),
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    }
    try {
      this.#seen = {
        lease: await client.create(kinds.Lease, { metadata: { ...lease }, spec }, { signal }),
        since: this.#now(),
      }
      this.#tellLeader(identity)
      return true
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'AlreadyExists') return false
      throw error
    }
  }

  #sameUid({ metadata }: Lease): boolean {
    return this.#seen?.lease.metadata.uid === metadata.uid
  }

  /** When the Lease has been seen unchanged for as long as its holder said. */
  #endOf({ spec }: Lease): number {
    const seconds = spec?.leaseDurationSeconds
    return this.#seen!.since + (seconds === undefined ? this.#options.timing.leaseDurationMs : seconds * 1000)
  }

  #nextSpec({ spec }: Lease): NonNullable<Lease['spec']> {
    const { identity, timing } = this.#options
    const isOurs = spec?.holderIdentity === identity
    const time = this.#timestamp()
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(timing.leaseDurationMs / 1000),
      acquireTime: isOurs ? (spec?.acquireTime ?? time) : time,
      renewTime: time,
      leaseTransitions: (spec?.leaseTransitions ?? 0) + (isOurs ? 0 : 1),
    }
  }

  #tellLeader(identity: string): void {
    if (identity === this.#leader) return
    this.#leader = identity
    this.#options.onLeader?.(identity)
  }

  #now(): number {
    return this.#options.clock.monotonic()
  }

  #timestamp(): string {
    return `${new Date(this.#options.clock.now()).toISOString().slice(0, -1)}000Z`
  }
}
