/**
 * Calls one webhook for one request, subject to its circuit breaker, time share and failure policy. Returns the result
 * of `onAllowed`, or undefined if the webhook failed and its failures are ignored. Throws ApiError if the request is
 * rejected.
 */
import { randomUUID } from 'node:crypto'
import { ApiError, timeout } from '../../../api/model/api-error.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import { messageOf } from '../../../base/text/errors.ts'
import { type Clock, systemClock } from '../../../base/time/clock.ts'
import { CallError, type CallFault } from '../../../wire/http/client/call-error.ts'
import type { HttpsCaller } from '../../outbound/https-caller.ts'
import type { Destinations } from '../../outbound/webhook-address.ts'
import type { AdmissionRequest } from '../admission.ts'
import type { Candidate } from './configurations.ts'
import { denial, dryRunRefused, notAsked, unaskable } from './denial.ts'
import type { Reviews } from './review.ts'
import { timeFor } from './time-share.ts'
import { readVerdictSliced, type Verdict } from './verdict.ts'
import type { Webhook } from './webhook.ts'
import type { RejectionCause, WebhookMetrics } from './webhook-metrics.ts'

export interface WebhookCallParts {
  readonly caller: HttpsCaller
  readonly destinations: Destinations
  readonly clock: Clock
  readonly metrics: WebhookMetrics
  readonly log: Log
  /** This server's request timeout in milliseconds. */
  readonly requestLimitMs: number
}

export interface Question extends Candidate {
  readonly request: AdmissionRequest
  readonly reviews: Reviews
  /** Number of sequential calls that the request still has to make, including this one. */
  readonly calls: number
  /** Number of sequential calls that the request makes in total. */
  readonly allCalls: number
}

/**
 * Called with the response of a webhook that allows the request, for example to apply its patch. `isLate` returns
 * whether the webhook's timeout has passed. The timeout also covers the execution of this function.
 */
export type VerdictHandler<T> = (verdict: Verdict, isLate: () => boolean) => T | Promise<T>

/** The start time, the timeout and the duration of a call. */
interface SpentTime {
  readonly began: number
  readonly timeoutMs: number
  readonly elapsedMs: number
}

/**
 * Failures that prove nothing about the webhook: the request ended, a local limit was reached, or the call was cut
 * short.
 */
const inconclusiveFaults: ReadonlySet<CallFault> = new Set(['aborted', 'limit', 'cut'])

export class WebhookCalls {
  readonly #parts: WebhookCallParts

  constructor(parts: WebhookCallParts) {
    this.#parts = parts
  }

  /**
   * Calls the webhook, and calls `onAllowed` if it allows the request. `onAllowed` may throw CallError for an unusable
   * response. Such a response counts as a failure of the webhook.
   */
  async ask<T>(question: Question, onAllowed: VerdictHandler<T>): Promise<T | undefined> {
    const { webhook, request } = question
    const { clock, metrics } = this.#parts
    if (request.dryRun && !webhook.allowsDryRun) throw dryRunRefused(webhook)
    const began = clock.monotonic()
    const record = (said: string, code: number, rejection?: RejectionCause) => {
      const ms = clock.monotonic() - began
      metrics.called({ webhook, operation: request.operation, ms, code, rejection })
      request.explanation?.looked({ ...controlOf(webhook), webhook: webhook.name, ms, said })
    }
    try {
      const { used, said } = await this.#consult(question, onAllowed)
      record(said, 200)
      return used
    } catch (error) {
      const refusal = this.#refusal(question, error)
      const said = refusal?.error.message ?? `ignored: ${messageOf(error)}`
      record(said, refusal?.error.code ?? 200, refusal?.cause)
      if (refusal !== undefined) throw refusal.error
      metrics.ignored(webhook)
      return undefined
    }
  }

  /** Returns the error for the client, or undefined if the failure is ignored. */
  #refusal({ webhook, request }: Question, error: unknown): { error: ApiError; cause: RejectionCause } | undefined {
    if (error instanceof ApiError)
      return { error, cause: error.reason === 'InternalError' ? 'apiserver_internal_error' : 'no_error' }
    if (!(error instanceof CallError)) throw error
    // The failure policy does not apply, because the request ended before the webhook could respond.
    if (error.fault === 'aborted' || this.#isOver(request))
      return {
        error: timeout('the request ended during an admission webhook call'),
        cause: 'calling_webhook_error',
      }
    // Reject the request regardless of the failure policy, because a local limit says nothing about the webhook, which
    // might have denied the request. If the circuit breaker is open, however, the webhook itself is failing.
    if (error.fault === 'limit' && !webhook.breaker.state.open)
      return { error: notAsked(webhook, error.message), cause: 'apiserver_internal_error' }
    if (webhook.ignoresFailures) return undefined
    return { error: unaskable(webhook, error.message), cause: 'calling_webhook_error' }
  }

  /** Whether the client no longer waits for the request. Also compares the clock, because the signal can be late. */
  #isOver({ abandoned, deadline = Number.POSITIVE_INFINITY }: AdmissionRequest): boolean {
    return abandoned?.().aborted === true || systemClock.monotonic() >= deadline
  }

  /** Calls the webhook. Any response closes the breaker, even a denial or an invalid patch. */
  async #consult<T>(question: Question, onAllowed: VerdictHandler<T>): Promise<{ used: T; said: string }> {
    const { webhook, request } = question
    const { reviewVersion, breaker } = webhook
    if (reviewVersion === undefined)
      throw new CallError('answer', 'it supports no AdmissionReview version that this server can send')
    const open = breaker.refusal(tenantOf(request))
    if (open !== undefined) throw new CallError('connection', open)
    const began = this.#parts.clock.monotonic()
    const elapsed = () => this.#parts.clock.monotonic() - began
    const { requestLimitMs: limitMs } = this.#parts
    const leftMs = limitMs - (began - (request.began ?? began))
    const timeoutMs = timeFor(webhook, { limitMs, leftMs, ...question })
    try {
      const verdict = await this.#call(question, reviewVersion, timeoutMs)
      for (const text of verdict.warnings) request.warn(text)
      for (const [key, value] of Object.entries(verdict.auditAnnotations))
        request.audit?.annotate(`${webhook.name}/${key}`, value)
      if (!verdict.allowed) throw denial(webhook, verdict.status)
      const used = await onAllowed(verdict, () => elapsed() > webhook.timeoutMs)
      breaker.answered(elapsed())
      return { used, said: describeVerdict(verdict) }
    } catch (error) {
      if (error instanceof CallError) this.#note(question, error, { began, timeoutMs, elapsedMs: elapsed() })
      if (error instanceof ApiError) breaker.answered(elapsed())
      throw error
    }
  }

  async #call({ webhook, form, request, reviews }: Question, version: 'v1' | 'v1beta1', timeoutMs: number) {
    const { caller, destinations } = this.#parts
    const { address, phase } = webhook
    const uid = randomUUID()
    const body = await reviews.write(form, version, uid)
    const place = `failed to call webhook: Post ${JSON.stringify(address.url)}: `
    const answer = await inPlace(place, async () =>
      caller.post({
        destination: destinations.of(address),
        path: address.path,
        body,
        timeoutMs,
        signal: request.abandoned?.(),
        headers: request.traceHeaders?.(),
      }),
    )
    return await new TimeSlice().run(readVerdictSliced(answer, { vendor: request.vendor, phase, version, uid }))
  }

  /**
   * Records the result of a call in the circuit breaker. Only failures to reach the webhook count. Any response shows
   * that the webhook is alive. A client can therefore not open the breaker for others by sending objects that the
   * webhook cannot handle. A webhook that closes the connection after receiving a request may have crashed because of
   * that request alone. Local limits and calls cut off before the webhook's own timeout are inconclusive. A webhook
   * that responds to other calls while one call times out is also alive.
   */
  #note(question: Question, error: CallError, { began, timeoutMs, elapsedMs }: SpentTime): void {
    const { breaker, timeoutMs: ownTimeoutMs } = question.webhook
    if (error.fault === 'answer') breaker.answered(elapsedMs)
    else if (inconclusiveFaults.has(error.fault)) breaker.undecided()
    else if (error.fault !== 'timeout' || (timeoutMs >= ownTimeoutMs && !breaker.hasAnsweredSince(began)))
      this.#countFailure(question, error)
  }

  #countFailure({ webhook, request }: Question, error: CallError): void {
    const { breaker, configuration, name } = webhook
    const before = breaker.state
    breaker.failed(error.message, tenantOf(request))
    const fields = { configuration, webhook: name, error: error.message }
    if (before.failures === 0) this.#parts.log.warn('cannot call admission webhook', fields)
    if (!before.open && breaker.state.open) this.#parts.log.warn('admission webhook circuit breaker opened', fields)
  }
}

/** Returns the tenant of a request: its namespace or, for a cluster-scoped object, its user. */
function tenantOf({ namespace, user }: AdmissionRequest): string {
  return namespace === '' ? `user ${user.name}` : `namespace ${namespace}`
}

function controlOf({ phase }: Webhook) {
  return phase === 'mutating'
    ? ({ control: 'MutatingAdmissionWebhook', step: 'mutate' } as const)
    : ({ control: 'ValidatingAdmissionWebhook', step: 'validate' } as const)
}

/** Summarizes a response that allows the request, for the explanation of the write. */
function describeVerdict({ patch, auditAnnotations }: Verdict): string {
  const notes = Object.entries(auditAnnotations).map(([key, value]) => `; ${key}=${value}`)
  return `allowed${patch === undefined ? '' : ', with a patch'}${notes.join('')}`
}

async function inPlace<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CallError ? new CallError(error.fault, `${place}${error.message}`) : error
  }
}
