/** The list of all webhooks that this server calls, for metrics and the kind AdmissionWebhook. */
import type { WebhookConfigurations } from './configurations.ts'
import type { Webhook } from './webhook.ts'

/** All webhooks that this server calls. */
export class KnownWebhooks {
  readonly #sources: WebhookConfigurations[] = []

  add(configurations: WebhookConfigurations): void {
    this.#sources.push(configurations)
  }

  /** Returns the current webhooks. */
  all(): readonly Webhook[] {
    return this.#sources.flatMap(({ webhooks }) => webhooks)
  }
}
