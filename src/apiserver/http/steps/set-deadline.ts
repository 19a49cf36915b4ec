/**
 * Sets a deadline for every request except watches and backups, which have their own limits. After the deadline, the
 * client gets a 504. Work that is still in progress cannot send a second response.
 */

import { badRequest, timeout } from '../../../api/model/api-error.ts'
import { shorten } from '../../../base/text/shorten.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { parseDuration } from '../../../base/time/duration.ts'
import { backupPath } from '../paths/backup-path.ts'
import type { Step } from '../pipeline.ts'
import { Deadlines } from '../request/deadlines.ts'
import type { Exchange } from '../request/exchange.ts'
import type { AnswerError } from './answer-errors.ts'

export interface DeadlineStep {
  readonly step: Step
  /** Stops the enforcement of deadlines. */
  readonly close: () => void
}

/**
 * Limits the duration of each request, except watches and backups, to the smaller of `maxMs` and the request's
 * `timeout` parameter.
 */
export function setDeadline(clock: Clock, maxMs: number, answerError: AnswerError): DeadlineStep {
  const deadlines = new Deadlines<Exchange>(clock, (exchange) => {
    exchange.expire()
    void answerError(exchange, tooLate())
  })
  const step: Step = (exchange) => {
    if (exchange.info.verb === 'watch' || exchange.info.path === backupPath) return
    deadlines.add(exchange, exchange.arrived + allowedMs(exchange, maxMs))
    exchange.onFinish(() => deadlines.delete(exchange))
  }
  return { step, close: () => deadlines.close() }
}

/**
 * Returns the error for a request that took too long. The response has no Retry-After header, because such a header
 * would make clients repeat a write that may have succeeded.
 */
function tooLate(): Error {
  return timeout('the request timed out; its changes may or may not have been applied')
}

function allowedMs({ info }: Exchange, maxMs: number): number {
  const text = info.query.get('timeout')
  if (text === null || text === '') return maxMs
  const isNegative = text.startsWith('-')
  const ms = parseDuration(text.replace(/^[+-]/, ''))
  if (ms === undefined)
    throw badRequest(
      `invalid timeout specified in the request URL: ${JSON.stringify(shorten(text, 50))}; use a duration such as 30s`,
    )
  // As in Kubernetes, a timeout of zero or less selects the default.
  return ms === 0 || isNegative ? maxMs : Math.min(ms, maxMs)
}
