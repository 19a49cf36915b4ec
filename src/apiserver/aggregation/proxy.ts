/**
 * Passes requests on to aggregated API servers (`apiserver/http/relay/pass-on.ts`), which are told who the user is; admission and storage
 * are the backend's own. A backend that is known to be out of reach costs its own requests a clear refusal.
 */

import { ApiError, timeout } from '../../api/model/api-error.ts'
import type { RequestPasser } from '../http/relay/pass-on.ts'
import type { Exchange } from '../http/request/exchange.ts'
import type { CallError } from '../outbound/call-error.ts'
import type { HttpsRelay } from '../outbound/https-relay.ts'
import type { Backend, Backends } from './backends.ts'

export interface ProxyParts {
  readonly backends: Backends
  readonly relay: HttpsRelay
  readonly passer: RequestPasser
  /** Why a backend was out of reach when this server last looked; undefined: it was not, or nobody has looked. */
  readonly faultOf: (backend: Backend) => string | undefined
  /** Called where a backend could not be reached. */
  readonly onUnreachable: (backend: Backend) => void
}

export class AggregationProxy {
  readonly #parts: ProxyParts

  constructor(parts: ProxyParts) {
    this.#parts = parts
  }

  /** Passes a request on to a path of the backend; by default to the path that the client asked for. */
  async handle(exchange: Exchange, backend: Backend, target = exchange.transport.target): Promise<void> {
    const { passer, relay, backends, faultOf, onUnreachable } = this.#parts
    const fault = faultOf(backend)
    if (fault !== undefined) throw unavailable(backend, fault)
    await passer.pass(exchange, {
      to: `the APIService ${backend.name}`,
      relay,
      destination: () => backends.destinationOf(backend),
      path: target,
      tellsUser: true,
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
  if (fault === 'timeout') return timeout(`the backend of the APIService "${backend.name}" gave ${message}`)
  if (fault === 'answer') return badGateway(backend, message)
  return unavailable(backend, message)
}

function unavailable({ name }: Backend, why: string): ApiError {
  // Without a time to try again: clients take one as permission to repeat what may have happened, and wait.
  return new ApiError(503, 'ServiceUnavailable', `the backend of the APIService "${name}" cannot be reached: ${why}`)
}

function busy({ name }: Backend): ApiError {
  const message = `too many requests to the backend of the APIService "${name}" are under way; try again`
  return new ApiError(429, 'TooManyRequests', message, { retryAfterSeconds: 1 })
}

function badGateway({ name }: Backend, why: string): ApiError {
  return new ApiError(502, 'InternalError', `the backend of the APIService "${name}" cannot be used: ${why}`)
}
