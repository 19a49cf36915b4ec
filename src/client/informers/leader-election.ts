/**
 * Leader election with a Lease, so that only one program at a time does certain work. The leader renews the Lease. If
 * the leader does not renew the Lease in time, it loses the Lease and another program acquires it.
 *
 * Each program uses its own monotonic clock to decide whether a Lease has expired. The decision depends on how long the
 * program has observed no change to the Lease, never on the times in the Lease. A leader that has failed to renew the
 * Lease for `renewDeadlineMs` stops immediately, before another program may start. `mayGoOn` is checked before every
 * request that the work sends, so a process that is suspended until its Lease has expired sends nothing when it
 * resumes. A request that is already in transit may still arrive, so work that must not happen twice needs
 * preconditions on its writes.
 */

import type { Lease } from '../../api/kinds/coordination/lease.ts'
import { pause, withDeadline } from '../../base/concurrency/abort.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import * as kinds from '../requests/built-in-kinds.ts'
import type { Client } from '../requests/client.ts'
import type { ObjectName } from '../requests/resource-type.ts'
import { isConflict, isNotFound, StatusError } from '../requests/status-error.ts'
import { type Transport, TransportError } from '../requests/transport.ts'

/** Settings of a leader election: the Lease, the candidate and the timing. */
export interface ElectionOptions {
  readonly client: Client
  readonly lease: ObjectName
  /** Identity of this candidate. The identity must be unique among the candidates. */
  readonly identity: string
  /**
   * The timing of the election. Defaults to a lease of 15 seconds, a renew deadline of 10 seconds and a retry period of
   * 2 seconds.
   */
  readonly timing?: ElectionTiming
  /** The clock that measures durations. Defaults to the system clock. */
  readonly clock?: Clock
  /** Called for errors, which do not end the election. */
  readonly onError: (error: unknown) => void
  /** Called when another candidate becomes the leader. */
  readonly onLeader?: (identity: string) => void
}

const defaults = {
  clock: systemClock as Clock,
  timing: { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
}

/** The timing of a leader election, in milliseconds. */
export interface ElectionTiming {
  /** How long other candidates must have observed an unchanged Lease before they acquire it. */
  readonly leaseDurationMs: number
  /** How long the leader tries to renew the Lease before it stops. Must be shorter than `leaseDurationMs`. */
  readonly renewDeadlineMs: number
  /** Interval between attempts to acquire or renew the Lease. */
  readonly retryPeriodMs: number
}

/** One period of leadership, from acquiring the Lease to losing it. */
export interface Term {
  /** A signal that aborts when the term ends. */
  readonly signal: AbortSignal
  /** Whether the program is still the leader. Also checks the clock, because the abort signal can be late. */
  mayGoOn(): boolean
}

/** Returns an error message if the timing is invalid, or undefined if it is valid. */
export function timingFault({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: ElectionTiming): string | undefined {
  if (leaseDurationMs <= renewDeadlineMs) return 'the lease duration must be longer than the renew deadline'
  if (renewDeadlineMs <= retryPeriodMs * 1.2) return 'the renew deadline must be longer than 1.2 times the retry period'
  return retryPeriodMs > 0 && leaseDurationMs >= 1000 ? undefined : 'the lease duration must be at least 1s'
}

/**
 * Waits until this program becomes the leader and then calls `work`. Resolves when the work has ended: to true if the
 * Lease was lost, or to false if the signal aborted. If the signal aborted, the Lease is released, so that another
 * candidate need not wait.
 */
export async function leadOnce(
  options: ElectionOptions,
  work: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const candidate = new Candidate({ ...defaults, ...options })
  if (!(await candidate.acquire(signal))) return false
  const over = new AbortController()
  const end = () => over.abort(new TransportError('this process is no longer the leader'))
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  const term = { signal: over.signal, mayGoOn: () => !over.signal.aborted && candidate.isCurrent() }
  // The term also ends if the work ends first. If the work failed, its error is thrown later, after the renewal has
  // stopped.
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

/** Returns a transport that rejects requests after the end of the term. */
export function withinTerm(transport: Transport, term: Term): Transport {
  return async (request) => {
    if (!term.mayGoOn()) throw new TransportError('this process is no longer the leader')
    return await transport({ ...request, signal: AbortSignal.any([request.signal, term.signal]) })
  }
}

interface Seen {
  readonly lease: Lease
  readonly since: number
}

class Candidate {
  readonly #options: ElectionOptions & typeof defaults
  #lastObserved: Seen | undefined
  /** Time at which the last successful request to acquire or renew the Lease was sent. */
  #heldSince = Number.NEGATIVE_INFINITY
  #leader = ''

  constructor(options: ElectionOptions & typeof defaults) {
    this.#options = options
  }

  /** Whether this candidate is certainly still the leader. */
  isCurrent(): boolean {
    return this.#now() < this.#heldSince + this.#options.timing.renewDeadlineMs
  }

  /** Resolves to true when this candidate has acquired the Lease, or to false when the signal aborts. */
  async acquire(signal: AbortSignal): Promise<boolean> {
    const { retryPeriodMs } = this.#options.timing
    while (!signal.aborted) {
      if (await this.#tryOnce(signal)) return true
      // Random jitter, so that candidates that started at the same time do not send their requests at the same time.
      await pause(retryPeriodMs * (1 + Math.random() * 0.2), signal)
    }
    return false
  }

  /** Renews the Lease periodically. Resolves when the Lease is lost or the signal aborts. */
  async renewUntil(signal: AbortSignal): Promise<void> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options.timing
    while (!signal.aborted && this.isCurrent()) {
      const remainingMs = this.#heldSince + renewDeadlineMs - this.#now()
      await pause(Math.min(retryPeriodMs, remainingMs), signal)
      if (!signal.aborted && this.isCurrent()) await this.#tryOnce(signal)
    }
  }

  /** Releases the Lease, so that the next candidate can acquire it immediately. */
  async release(): Promise<void> {
    const { client, identity, timing } = this.#options
    const heldLease = this.#lastObserved?.lease
    if (heldLease?.spec?.holderIdentity !== identity) return
    const spec = { ...heldLease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#timestamp() }
    try {
      const late = () => new TransportError('cannot release the lease in time')
      await withDeadline({ ms: timing.retryPeriodMs, outer: undefined, late }, (signal) =>
        client.update(kinds.Lease, { ...heldLease, spec }, { signal }),
      )
    } catch (error) {
      // Ignore the error, because the Lease expires anyway.
      this.#options.onError(error)
    }
  }

  /**
   * Tries to acquire or renew the Lease. Returns whether this candidate has the Lease afterwards. An attempt times out
   * after the leader's remaining time, or after one retry period.
   */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { retryPeriodMs, renewDeadlineMs } = this.#options.timing
    const began = this.#now()
    const ms = this.isCurrent() ? this.#heldSince + renewDeadlineMs - began : Math.max(retryPeriodMs, 1000)
    const late = () => new TransportError('the request for the lease timed out')
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
    const currentLease = await client.get(kinds.Lease, name, { signal }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    if (currentLease === undefined) return await this.#create(signal)
    if (
      this.#lastObserved?.lease.metadata.resourceVersion !== currentLease.metadata.resourceVersion ||
      !this.#sameUid(currentLease)
    )
      this.#lastObserved = { lease: currentLease, since: now }
    const { holderIdentity = '' } = currentLease.spec ?? {}
    if (holderIdentity !== identity && holderIdentity !== '' && now < this.#endOf(currentLease)) {
      this.#tellLeader(holderIdentity)
      return false
    }
    const updated = await client.update(
      kinds.Lease,
      { ...currentLease, spec: this.#nextSpec(currentLease) },
      { signal },
    )
    this.#lastObserved = { lease: updated, since: now }
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
      this.#lastObserved = {
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
    return this.#lastObserved?.lease.metadata.uid === metadata.uid
  }

  /**
   * Returns the time at which another candidate's Lease expires if it does not change. The spec contains the lease
   * duration.
   */
  #endOf({ spec }: Lease): number {
    const seconds = spec?.leaseDurationSeconds
    return this.#lastObserved!.since + (seconds === undefined ? this.#options.timing.leaseDurationMs : seconds * 1000)
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
