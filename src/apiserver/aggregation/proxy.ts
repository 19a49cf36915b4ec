/**
 * Forwards requests to aggregated API servers (see `apiserver/http/relay/request-forwarder.ts`) together with the
 * user's identity. The backend runs its own admission and has its own store. Requests to an unreachable backend fail
 * immediately with a clear error.
 */

import { ApiError, timeout } from '../../api/model/api-error.ts'
import type { CallError } from '../../wire/http/client/call-error.ts'
import type { RequestForwarder } from '../http/relay/request-forwarder.ts'
import type { Exchange } from '../http/request/exchange.ts'
import type { HttpsRelay } from '../outbound/https-relay.ts'
import type { Backend, Backends } from './backends.ts'

export interface ProxyParts {
  readonly backends: Backends
  readonly relay: HttpsRelay
  readonly forwarder: RequestForwarder
  /**
   * Returns the reason why the last check of a backend failed. Undefined if the check passed or if no check has
   * completed yet.
   */
  readonly faultOf: (backend: Backend) => string | undefined
  /** Called to schedule an early check when a request could not reach its backend. */
  readonly onUnreachable: (backend: Backend) => void
}

export class AggregationProxy {
  readonly #parts: ProxyParts

  constructor(parts: ProxyParts) {
    this.#parts = parts
  }

  /**
   * Forwards a request to a backend. `target` is the URL path to request, and defaults to the path of the client's
   * request.
   */
  async handle(exchange: Exchange, backend: Backend, target = exchange.transport.target): Promise<void> {
    const { forwarder, relay, backends, faultOf, onUnreachable } = this.#parts
    const fault = faultOf(backend)
    if (fault !== undefined) throw unavailable(backend, fault)
    await forwarder.pass(exchange, {
      to: `the APIService ${backend.name}`,
      relay,
      destination: () => backends.destinationOf(backend),
      path: target,
      sendsUser: true,
      errors: {
        noAnswer: (error) => {
          onUnreachable(backend)
          return errorOf(backend, error)
        },
        busy: () => busy(backend),
        unusable: (why) => badGateway(backend, why),
      },
    })
  }
}

function errorOf(backend: Backend, { fault, message }: CallError): ApiError {
  if (fault === 'timeout') return timeout(`the backend of the APIService "${backend.name}" returned ${message}`)
  if (fault === 'answer') return badGateway(backend, message)
  return unavailable(backend, message)
}

function unavailable({ name }: Backend, why: string): ApiError {
  // Do not add a Retry-After header, because it would make clients repeat a request that may have succeeded.
  return new ApiError(503, 'ServiceUnavailable', `cannot reach the backend of the APIService "${name}": ${why}`)
}

function busy({ name }: Backend): ApiError {
  const message = `too many requests to the backend of the APIService "${name}" are in progress; try again`
  return new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
}

function badGateway({ name }: Backend, why: string): ApiError {
  return new ApiError(502, 'InternalError', `the backend of the APIService "${name}" cannot be used: ${why}`)
}
