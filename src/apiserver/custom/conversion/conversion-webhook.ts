/**
 * The webhook of a definition that makes one version of an object from another. Calls are bounded in time, in size and
 * in number: one that hangs holds up the readers of its own kind, for as long as a call may take, and nobody else.
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
import { CallError } from '../../outbound/call-error.ts'
import type { HttpsCaller } from '../../outbound/https-caller.ts'
import {
  type ClientConfig,
  type Destinations,
  type WebhookAddress,
  webhookAddress,
} from '../../outbound/webhook-address.ts'
import { ConversionFailed, ConversionNotTried } from '../../registry/reads/conversion-failed.ts'
import type { Convert } from '../objects/evolution.ts'
import type { Conversion, ConversionMetrics } from './conversion-metrics.ts'
import { type Review, readConverted, webhookFor, writeReview } from './conversion-review.ts'

export interface ConversionParts {
  readonly vendor: Vendor
  readonly caller: HttpsCaller
  readonly destinations: Destinations
  readonly clock: Clock
  readonly metrics: ConversionMetrics
  readonly log: Log
  /** How long a call may take, with the time that it waits for its turn. */
  readonly timeoutMs?: number | undefined
}

const defaultTimeoutMs = 30_000
/** Of one definition. */
const maxCalls = 16
const maxWaiting = 1000

/** How the objects of a definition are converted; undefined where that takes no webhook. */
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
  /** Of ConversionReview; undefined: it understands none that this server speaks. */
  readonly version: string | undefined
  readonly timeoutMs: number
}

class ConversionWebhook {
  readonly #parts: ConversionParts
  readonly #webhook: WebhookOf
  readonly #turns: Turns
  #failing = false

  constructor(parts: ConversionParts, webhook: WebhookOf) {
    this.#parts = parts
    this.#webhook = webhook
    this.#turns = new Turns(webhook.timeoutMs)
  }

  async convert(objects: readonly JsonObject[], apiVersion: string): Promise<JsonObject[]> {
    const { clock, metrics, log, vendor } = this.#parts
    const { definition, version } = this.#webhook
    if (version === undefined) throw new ConversionFailed('no supported conversion review versions')
    const began = clock.monotonic()
    const note = ({ succeeded }: Pick<Conversion, 'succeeded'>) => {
      const seconds = (clock.monotonic() - began) / 1000
      const [from, to] = [versionOf(String(objects[0]?.apiVersion)), versionOf(apiVersion)]
      metrics.converted({ definition, from, to, succeeded, seconds })
    }
    const review = { vendor, version, uid: randomUUID(), apiVersion, objects }
    try {
      const converted = await this.#turns.take(clock, (leftMs) => this.#call(review, leftMs))
      note({ succeeded: true })
      this.#failing = false
      return converted
    } catch (error) {
      note({ succeeded: false })
      if (!(error instanceof CallError || error instanceof ConversionFailed)) throw error
      // Our own limit says nothing about the webhook: the client must try again.
      if (error instanceof CallError && error.fault === 'limit')
        throw new ConversionNotTried(`${webhookFor(review)} was not called: ${error.message}`)
      const message = error instanceof CallError ? `${webhookFor(review)} failed: ${error.message}` : error.message
      if (!this.#failing) log.warn('a conversion webhook fails', { definition, error: message })
      this.#failing = true
      throw new ConversionFailed(message)
    }
  }

  async #call(review: Review, leftMs: number): Promise<JsonObject[]> {
    const { caller, destinations } = this.#parts
    const { address } = this.#webhook
    const answer = await inPlace(`Post ${JSON.stringify(address.url)}: `, async () => {
      const destination = destinations.of(address)
      return await caller.post({ destination, path: address.path, body: writeReview(review), timeoutMs: leftMs })
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

/** Some at a time; the others wait in the order in which they came. */
class Turns {
  readonly #timeoutMs: number
  #taken = 0
  readonly #waiting: (() => void)[] = []

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** `work` is given what is left of the time, once it is its turn. */
  async take<T>(clock: Clock, work: (leftMs: number) => Promise<T>): Promise<T> {
    if (this.#waiting.length >= maxWaiting) throw new CallError('limit', 'too many conversions wait for it')
    const began = clock.monotonic()
    if (this.#taken >= maxCalls) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#taken++
    try {
      const leftMs = this.#timeoutMs - (clock.monotonic() - began)
      if (leftMs <= 0)
        throw new CallError('timeout', `no answer to the conversions before it within ${this.#timeoutMs} ms`)
      return await work(leftMs)
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#taken--
      else next()
    }
  }
}
