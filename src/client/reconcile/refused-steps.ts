/**
 * Logs the error responses that a loop receives in two cases: the server rejects a write because of the object, for
 * example because a Pod would exceed a quota, or the server cannot read a stored object. The message of the server
 * explains such an error, so the log contains one line per key, without a stack, until the step succeeds. The loops
 * also report rejected writes as Events for the object.
 */

import { ApiError } from '../../api/model/api-error.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { StatusError } from '../requests/status-error.ts'

/** Status codes of writes that the server rejected because of the object. */
const rejections = new Set([400, 403, 413, 422])

/** Whether an error is a response of the server, rather than a failure of the loop itself. */
export function isErrorResponse(error: unknown): error is StatusError | ApiError {
  return error instanceof StatusError || error instanceof ApiError
}

export class RefusedSteps {
  readonly #log: Log
  readonly #loop: string
  /** The message that was last logged for each key, so that each message is logged only once. */
  readonly #logged = new Map<string, string>()

  constructor(log: Log, loop: string) {
    this.#log = log
    this.#loop = loop
  }

  failed(key: string, error: StatusError | ApiError): void {
    const cause = causeOf(error)
    if (this.#logged.get(key) === cause) return
    this.#logged.set(key, cause)
    const fields = { loop: this.#loop, key, error: error.message }
    if (rejections.has(error.code)) this.#log.warn('the server rejected a write by a control loop; will retry', fields)
    else this.#log.error('reconcile failed; will retry', fields)
  }

  succeeded(key: string): void {
    this.#logged.delete(key)
  }
}

/** Returns the message without the name of the rejected object, because each attempt may generate a different name. */
function causeOf(error: StatusError | ApiError): string {
  const { details } = error instanceof StatusError ? error.status : error
  const name = details?.name ?? ''
  return name === '' ? error.message : error.message.replaceAll(name, '')
}
