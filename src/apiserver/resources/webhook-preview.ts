/**
 * Lists the existing objects that the rules and selectors of a webhook configuration match, for any operation
 * (`webhookpreviews`). Counts only objects that the caller may list. The response is based only on the caches of this
 * server.
 */

import { namespace as namespaceKind } from '../../api/kinds/core/namespace.ts'
import { webhookPreview as previewKind, type WebhookPreview } from '../../api/kinds/ops/webhook-preview.ts'
import type { Lookup } from '../../api/model/lookup.ts'
import type { User } from '../../api/model/user.ts'
import { groupName, type Vendor } from '../../api/model/vendor.ts'
import type { Labels } from '../../api/selectors/label-selector.ts'
import { TimeSlice } from '../../base/concurrency/time-slice.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AdmissionOperation } from '../admission/admission.ts'
import { candidateOf } from '../admission/webhook/configurations.ts'
import { compileConfiguration, type Webhook, type WebhookConfiguration } from '../admission/webhook/webhook.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { formsOf } from '../registry/reads/object-forms.ts'
import { storedTypes, VisibleTypes, type VisibleTypesParts } from './visible-types.ts'

export interface WebhookPreviewParts extends VisibleTypesParts {
  readonly vendor: Vendor
  readonly clock: Clock
  readonly lookup: Lookup
}

const maxNames = 100
const operations: readonly AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT']

export function webhookPreview(parts: WebhookPreviewParts): Endpoint<WebhookPreview> {
  return {
    kind: previewKind,
    subresource: '',
    verbs: ['create'],
    type: undefined,
    admits: 'CREATE',
    doc: 'Lists the existing objects that a webhook configuration would match.',
    answer: async ({ object, user }) => {
      const configuration: WebhookConfiguration = { ...object, webhooks: object.spec?.webhooks ?? [] }
      const preview = new Preview(parts, user)
      const webhooks = []
      for (const webhook of compileConfiguration(configuration, 'validating', parts.clock))
        webhooks.push({ name: webhook.name, types: await preview.typesOf(webhook) })
      return { ...object, status: { webhooks, hiddenTypes: [...preview.hidden].sort() } }
    },
  }
}

/** Collects the matching objects for one response. */
class Preview {
  readonly #parts: WebhookPreviewParts
  readonly #visible: VisibleTypes
  readonly #timeSlice = new TimeSlice()

  constructor(parts: WebhookPreviewParts, user: User) {
    this.#parts = parts
    this.#visible = new VisibleTypes(parts, user)
  }

  get hidden(): ReadonlySet<string> {
    return this.#visible.hidden
  }

  async typesOf(webhook: Webhook) {
    const matchingWebhooks = []
    for (const resource of reviewedTypes(this.#parts)) {
      if (!ruledBy(webhook, resource)) continue
      const names = await this.#matching(webhook, resource)
      const { group, plural } = resource
      if (names.length > 0)
        matchingWebhooks.push({ group, resource: plural, count: names.length, names: names.slice(0, maxNames) })
    }
    return matchingWebhooks
  }

  async #matching(webhook: Webhook, resource: Resource): Promise<string[]> {
    const names: string[] = []
    for (const slice of resource.cache.slices({ namespace: undefined })) {
      for (const { namespace, name, selectable } of slice) {
        if (this.#timeSlice.charge(4)) await this.#timeSlice.yieldIfDue()
        const labels = selectable.labels ?? {}
        if (!(webhook.objectSelector?.matches(labels) ?? true)) continue
        if (!this.#inSelectedNamespace(webhook, resource, { namespace, labels })) continue
        if (await this.#visible.mayList(resource, namespace))
          names.push(namespace === '' ? name : `${namespace}/${name}`)
      }
    }
    return names
  }

  #inSelectedNamespace(
    { namespaceSelector }: Webhook,
    resource: Resource,
    object: { namespace: string; labels: Labels },
  ) {
    if (namespaceSelector === undefined) return true
    if (resource.group === '' && resource.plural === 'namespaces') return namespaceSelector.matches(object.labels)
    if (object.namespace === '') return true
    const matchingWebhooks = this.#parts.lookup.getCached(namespaceKind, { namespace: '', name: object.namespace })
    return namespaceSelector.matches(matchingWebhooks?.object.metadata.labels ?? {})
  }
}

/** Returns one version of each stored kind, except webhook configurations, which never trigger webhooks. */
function reviewedTypes(parts: WebhookPreviewParts): Resource[] {
  const group = groupName(parts.vendor, 'admissionregistration')
  return storedTypes(parts).filter((resource) => resource.group !== group)
}

/**
 * Returns whether a rule of the webhook matches objects of the type, in any version. Rules for subresources do not
 * count.
 */
function ruledBy(webhook: Webhook, resource: Resource): boolean {
  const namespaced = resource.kind.scope === 'Namespaced'
  return resource.versions.some((version) =>
    operations.some((operation) =>
      candidateOf(webhook, { operation, forms: formsOf(version), subresource: '', namespaced }),
    ),
  )
}
