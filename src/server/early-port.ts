/**
 * The port before the server is ready, where `--livez-grace-period` asks for it: `/livez` passes while the server starts,
 * for that long at most, so that nobody restarts one that has much to load; `/readyz` fails, and whatever else is asked
 * for is a 503 with Retry-After. When the server is ready it takes the port over.
 */
import { type Clock, systemClock } from '../base/clock.ts'
import type { Exchange } from '../http/exchange.ts'
import { healthPaths } from '../http/health.ts'
import type { Listener } from '../http/listener.ts'
import { pipeline, type Step } from '../http/pipeline.ts'
import { answerErrors } from '../http/steps/answer-errors.ts'
import { resolveRequest } from '../http/steps/resolve-request.ts'
import { stamp } from '../http/steps/stamp.ts'
import { serviceUnavailable } from '../model/api-error.ts'
import { vendorOf } from '../model/vendor.ts'
import type { Log } from '../telemetry/log.ts'
import type { Certificates } from './certificates.ts'
import type { ServerOptions } from './flags/options.ts'
import { type ListenerParts, openListener } from './listener.ts'

/** What answers requests. */
export type Answering = Pick<ListenerParts, 'handle' | 'maySwitch'>

/** A port that is open already. */
export interface EarlyPort {
  readonly listener: Listener
  /** From now on this answers. */
  takeOver(by: Answering): void
}

interface EarlyPortParts {
  readonly certificates: Certificates
  readonly clock: Clock
  readonly log: Log
  readonly opened: AsyncDisposableStack
}

/** Undefined where the port is to open when the server is ready. */
export async function openEarlyPort(
  options: ServerOptions,
  { certificates, clock, log, opened }: EarlyPortParts,
): Promise<EarlyPort | undefined> {
  if (options.livezGrace === 0) return undefined
  let answering: Answering = { handle: answerWhileStarting(options, clock), maySwitch: () => false }
  const listener = await openListener(options, certificates, {
    handle: (exchange) => answering.handle(exchange),
    maySwitch: (target) => answering.maySwitch(target),
    ...{ clock: systemClock, log },
  })
  opened.defer(() => listener.close(0))
  const takeOver = (by: Answering) => {
    answering = by
  }
  return { listener, takeOver }
}

function answerWhileStarting(options: ServerOptions, clock: Clock): (exchange: Exchange) => Promise<void> {
  const end = clock.monotonic() + options.livezGrace
  const late = () => (clock.monotonic() < end ? undefined : 'the server has not started within --livez-grace-period')
  const health = healthPaths(
    [{ name: 'start-in-time', check: late }],
    [{ name: 'start', check: () => 'the server is starting' }],
  )
  const answer: Step = (exchange) => {
    const { info } = exchange
    const handled = info.resource ? false : health(exchange, info)
    if (handled === false) throw serviceUnavailable('the server is starting; try again')
    return handled
  }
  const answerError = answerErrors(vendorOf(options.profile), () => {})
  return pipeline([stamp, resolveRequest, answer], { answerError, onHandled: () => {} })
}
