/** The list of all webhooks that this server calls. Metrics and the kind AdmissionWebhook are based on this list. */
import type { WebhookConfigurations } from './configurations.ts'
import type { Webhook } from './webhook.ts'

/** The webhooks of all stored configurations. */
export class KnownWebhooks {
  readonly #sources: WebhookConfigurations[] = []

  add(configurations: WebhookConfigurations): void {
    this.#sources.push(configurations)
  }

  /** Returns all webhooks that are currently configured. */
  all(): readonly Webhook[] {
    return this.#sources.flatMap(({ webhooks }) => webhooks)
  }
}
