/**
 * Bounds the time of every request but watches, which end by their own rules. When the time is over the client is told
 * so; what is still being worked on finds the exchange answered, and its own answer is dropped.
 */
import { parseDuration } from '../../base/duration.ts'
import { badRequest, timeout } from '../../model/api-error.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'

const longestMs = 60_000

export function setDeadline(answerError: (exchange: Exchange, error: unknown) => Promise<void>): Step {
  return (exchange) => {
    if (exchange.info.verb === 'watch') return
    const timer = setTimeout(() => {
      exchange.late = true
      void answerError(exchange, tooLate())
    }, allowedMs(exchange))
    exchange.onFinish(() => clearTimeout(timer))
  }
}

function tooLate(): Error {
  return timeout('the request did not complete within its time; what it was to change may or may not have changed', {
    retryAfterSeconds: 1,
  })
}

function allowedMs({ info }: Exchange): number {
  const text = info.query.get('timeout')
  if (text === null || text === '') return longestMs
  const ms = parseDuration(text)
  if (ms === undefined)
    throw badRequest(`invalid timeout ${JSON.stringify(text.slice(0, 50))}: use a duration such as 30s`)
  return ms === 0 ? longestMs : Math.min(ms, longestMs)
}
