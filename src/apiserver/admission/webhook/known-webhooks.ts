/** All webhooks that this server calls, for those who show them: metrics and the kind AdmissionWebhook. */
import type { WebhookConfigurations } from './configurations.ts'
import type { Webhook } from './webhook.ts'

/** All webhooks that this server calls. */
export class KnownWebhooks {
  readonly #sources: WebhookConfigurations[] = []

  add(configurations: WebhookConfigurations): void {
    this.#sources.push(configurations)
  }

  /** As they are at present. */
  all(): readonly Webhook[] {
    return this.#sources.flatMap(({ webhooks }) => webhooks)
  }
}
