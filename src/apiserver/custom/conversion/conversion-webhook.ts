/**
 * Calls the conversion webhook of a definition. Calls are limited in time, size and number: a webhook that does not
 * respond delays only readers of its own kind, and only until the timeout.
 */
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../api/json/json.ts'
import { conversionReviewVersions } from '../../../api/kinds/apiextensions/conversion-rules.ts'
import type { CustomResourceDefinition } from '../../../api/kinds/apiextensions/definition-fields.ts'
import { versionOf } from '../../../api/model/api-version.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { TimeSlice } from '../../../base/concurrency/time-slice.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { CallError } from '../../../wire/http/client/call-error.ts'
import type { HttpsCaller } from '../../outbound/https-caller.ts'
import {
  type ClientConfig,
  type Destinations,
  type WebhookAddress,
  webhookAddress,
} from '../../outbound/webhook-address.ts'
import { ConversionFailed, ConversionNotTried } from '../../registry/reads/conversion-failed.ts'
import type { Convert } from '../objects/upgrade-stored-objects.ts'
import type { Conversion, ConversionMetrics } from './conversion-metrics.ts'
import { type Review, readConverted, webhookFor, writeReview } from './conversion-review.ts'

export interface ConversionParts {
  readonly vendor: Vendor
  readonly caller: HttpsCaller
  readonly destinations: Destinations
  readonly clock: Clock
  readonly metrics: ConversionMetrics
  readonly log: Log
  /** Timeout of a call in milliseconds, including the time spent in the queue. */
  readonly timeoutMs?: number | undefined
}

const defaultTimeoutMs = 30_000
/** Maximum number of concurrent calls per definition. */
const maxCalls = 16
const maxWaiting = 1000

/** Returns the webhook conversion of a definition, or undefined if the definition uses no webhook. */
export function conversionOf(definition: CustomResourceDefinition, parts: ConversionParts): Convert | undefined {
  const { conversion } = definition.spec ?? {}
  if (conversion?.strategy !== 'Webhook') return undefined
  const { clientConfig = {}, conversionReviewVersions: versions = [] } = conversion.webhook ?? {}
  const { timeoutMs = defaultTimeoutMs } = parts
  const version = versions.find((name) => conversionReviewVersions.includes(name))
  const webhook = new ConversionWebhook(parts, {
    definition: definition.metadata.name ?? '',
    address: webhookAddress(clientConfig as ClientConfig, timeoutMs),
    version,
    timeoutMs,
  })
  return (objects, apiVersion) => webhook.convert(objects, apiVersion)
}

interface WebhookOf {
  readonly definition: string
  readonly address: WebhookAddress
  /** The version of ConversionReview. Undefined if the webhook and this server have no version in common. */
  readonly version: string | undefined
  readonly timeoutMs: number
}

class ConversionWebhook {
  readonly #parts: ConversionParts
  readonly #webhook: WebhookOf
  readonly #concurrencyLimit: ConcurrencyLimit
  #failing = false

  constructor(parts: ConversionParts, webhook: WebhookOf) {
    this.#parts = parts
    this.#webhook = webhook
    this.#concurrencyLimit = new ConcurrencyLimit(webhook.timeoutMs)
  }

  async convert(objects: readonly JsonObject[], apiVersion: string): Promise<JsonObject[]> {
    const { clock, metrics, log, vendor } = this.#parts
    const { definition, version } = this.#webhook
    if (version === undefined) throw new ConversionFailed('no supported conversion review versions')
    const began = clock.monotonic()
    const note = ({ succeeded }: Pick<Conversion, 'succeeded'>) => {
      const seconds = (clock.monotonic() - began) / 1000
      const from = versionOf(String(objects[0]?.apiVersion))
      const to = versionOf(apiVersion)
      metrics.converted({ definition, from, to, succeeded, seconds })
    }
    const review = { vendor, version, uid: randomUUID(), apiVersion, objects }
    try {
      const converted = await this.#concurrencyLimit.take(clock, (remainingMs) => this.#call(review, remainingMs))
      note({ succeeded: true })
      this.#failing = false
      return converted
    } catch (error) {
      note({ succeeded: false })
      if (!(error instanceof CallError || error instanceof ConversionFailed)) throw error
      // A local limit prevented the call, so the webhook has not failed. Let the client retry.
      if (error instanceof CallError && error.fault === 'limit')
        throw new ConversionNotTried(`${webhookFor(review)} was not called: ${error.message}`)
      const message = error instanceof CallError ? `${webhookFor(review)} failed: ${error.message}` : error.message
      if (!this.#failing) log.warn('conversion webhook failed', { definition, error: message })
      this.#failing = true
      throw new ConversionFailed(message)
    }
  }

  async #call(review: Review, remainingMs: number): Promise<JsonObject[]> {
    const { caller, destinations } = this.#parts
    const { address } = this.#webhook
    const answer = await inPlace(`Post ${JSON.stringify(address.url)}: `, async () => {
      const destination = destinations.of(address)
      return await caller.post({ destination, path: address.path, body: writeReview(review), timeoutMs: remainingMs })
    })
    return await new TimeSlice().run(readConverted(answer, review))
  }
}

async function inPlace<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof CallError ? new CallError(error.fault, `${place}${error.message}`) : error
  }
}

/** Limits concurrent calls to one webhook. Additional calls wait in order of arrival. */
class ConcurrencyLimit {
  readonly #timeoutMs: number
  #usedSlots = 0
  readonly #waiting: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /**
   * Waits for a free slot and calls `work` with the time that remains until the timeout. Throws an error if too many
   * calls are waiting.
   */
  async take<T>(clock: Clock, work: (remainingMs: number) => Promise<T>): Promise<T> {
    if (this.#waiting.length >= maxWaiting) throw new CallError('limit', 'too many conversions are waiting for it')
    const began = clock.monotonic()
    if (this.#usedSlots >= maxCalls) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#usedSlots++
    try {
      const remainingMs = this.#timeoutMs - (clock.monotonic() - began)
      if (remainingMs <= 0)
        throw new CallError('timeout', `no response to the preceding conversions within ${this.#timeoutMs} ms`)
      return await work(remainingMs)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#usedSlots--
      else next()
    }
  }
}
