/**
 * Opens the port before the server is ready if `--livez-grace-period` is set. While the server is starting, `/livez`
 * succeeds for at most the grace period, so that a supervisor does not restart a server that is loading a lot of data.
 * `/readyz` fails, and all other requests get a 503 response with Retry-After. Once the server is ready, it handles all
 * requests on the port.
 */

import { serviceUnavailable } from '../../api/model/api-error.ts'
import { vendorOf } from '../../api/model/vendor.ts'
import { healthPaths } from '../../apiserver/http/paths/health.ts'
import { pipeline, type Step } from '../../apiserver/http/pipeline.ts'
import { answerErrors } from '../../apiserver/http/steps/answer-errors.ts'
import { assignAuditId } from '../../apiserver/http/steps/assign-audit-id.ts'
import { resolveRequest } from '../../apiserver/http/steps/resolve-request.ts'
import type { Listener } from '../../apiserver/transport/listener.ts'
import type { WorkerConnections } from '../../apiserver/transport/worker-evictions.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { type Clock, systemClock } from '../../base/time/clock.ts'
import type { Certificates } from '../certificates/certificates.ts'
import type { ServerOptions } from '../flags/options.ts'
import { type ListenerParts, openListener, type PortSharing } from './listener.ts'

/** The request handlers of a port. */
export type Answering = Pick<ListenerParts, 'handle' | 'maySwitch'>

/** A port that is open while the server starts. */
export interface EarlyPort {
  readonly listener: Listener
  /** Sets the handlers for later requests. Called when the server is ready. */
  takeOver(by: Answering): void
}

interface EarlyPortParts {
  readonly certificates: Pick<Certificates, 'tls'>
  /** Monotonic time at which the server began to start. */
  readonly startTime: number
  readonly clock: Clock
  readonly log: Log
  readonly opened: AsyncDisposableStack
  readonly counting?: WorkerConnections | undefined
  readonly portSharing?: PortSharing | undefined
}

/** Opens the port, or returns undefined if the port must not open before the server is ready. */
export async function openEarlyPort(
  options: ServerOptions,
  { certificates, startTime, clock, log, opened, counting, portSharing }: EarlyPortParts,
): Promise<EarlyPort | undefined> {
  if (options.livezGrace === 0) return undefined
  let answering: Answering = { handle: answerWhileStarting(options, startTime, clock), maySwitch: () => false }
  const listener = await openListener(options, certificates, {
    handle: (exchange) => answering.handle(exchange),
    maySwitch: (target) => answering.maySwitch(target),
    clock: systemClock,
    log,
    counting,
    portSharing,
  })
  opened.defer(() => listener.close(0))
  const takeOver = (by: Answering) => {
    answering = by
  }
  return { listener, takeOver }
}

/**
 * Opens a port that reports liveness until the store is open. Until then, the server may not have its certificates.
 * Clients with certificates connect to the final port, which replaces this port.
 */
export async function openWaitingPort(
  options: ServerOptions,
  parts: Omit<EarlyPortParts, 'certificates'>,
): Promise<EarlyPort | undefined> {
  if (options.livezGrace === 0) return undefined
  const { bootstrapCertificate: firstPair } = await import('../certificates/bootstrap-certificate.ts')
  return await openEarlyPort(options, { ...parts, certificates: { tls: await firstPair(options, parts.clock) } })
}

function answerWhileStarting(options: ServerOptions, startTime: number, clock: Clock): Answering['handle'] {
  const end = startTime + options.livezGrace
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
  return pipeline([assignAuditId, resolveRequest, answer], { answerError, onHandled: () => {} })
}
