/**
 * Logs the steps that the server rejected because of the object, such as a Pod beyond a quota or one that admission
 * refuses. The cause is what a user wrote, so the log has one line without a stack for each key, until its step succeeds.
 * The loops themselves report such rejections as events of the object.
 */

import { ApiError } from '../../api/model/api-error.ts'
import type { Log } from '../../base/telemetry/log.ts'
import { StatusError } from '../requests/status-error.ts'

const rejections = new Set([400, 403, 413, 422])

/** Whether the server rejected what a step wrote, as opposed to a failure of the loop or of the server. */
export function isRejection(error: unknown): error is StatusError | ApiError {
  return (error instanceof StatusError || error instanceof ApiError) && rejections.has(error.code)
}

export class RefusedSteps {
  readonly #log: Log
  readonly #loop: string
  /** By key: the rejection that was logged. */
  readonly #logged = new Map<string, string>()

  constructor(log: Log, loop: string) {
    this.#log = log
    this.#loop = loop
  }

  failed(key: string, error: StatusError | ApiError): void {
    const cause = causeOf(error)
    if (this.#logged.get(key) === cause) return
    this.#logged.set(key, cause)
    this.#log.warn('the server rejects a write of a loop; will retry', { loop: this.#loop, key, error: error.message })
  }

  succeeded(key: string): void {
    this.#logged.delete(key)
  }
}

/** The message without the name of the rejected object, which may be generated anew with each attempt. */
function causeOf(error: StatusError | ApiError): string {
  const { details } = error instanceof StatusError ? error.status : error
  const name = details?.name ?? ''
  return name === '' ? error.message : error.message.replaceAll(name, '')
}
