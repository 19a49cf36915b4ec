/** Bounds the time of every request but watches, which end by their own rules. */

import { parseDuration } from '../../base/duration.ts'
import { badRequest, timeout } from '../../model/api-error.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'

const longestMs = 60_000

export const setDeadline: Step = async (exchange, next) => {
  if (exchange.info.verb === 'watch') return await next()
  const ms = Math.min(requestedMs(exchange) ?? longestMs, longestMs)
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late.abort()
      reject(
        timeout('the request did not complete within its time; what it was to change may or may not have changed', {
          retryAfterSeconds: 1,
        }),
      )
    }, ms)
  })
  exchange.signal = AbortSignal.any([exchange.transport.signal, late.signal])
  try {
    await Promise.race([next(), expiry])
  } finally {
    clearTimeout(timer)
  }
}

function requestedMs({ info }: Exchange): number | undefined {
  const text = info.query.get('timeout')
  if (text === null || text === '') return undefined
  const ms = parseDuration(text)
  if (ms === undefined)
    throw badRequest(`invalid timeout ${JSON.stringify(text.slice(0, 50))}: use a duration such as 30s`)
  return ms === 0 ? undefined : ms
}
