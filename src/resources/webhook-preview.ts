/**
 * `webhookpreviews`: which of the objects that exist now a webhook configuration would match, by its rules and
 * selectors, whatever is done with them. Only what the caller may list is counted; what the caches hold is all that is
 * looked at.
 */
import type { AdmissionOperation } from '../admission/admission.ts'
import { candidateOf } from '../admission/webhook/configurations.ts'
import { compileConfiguration, type Webhook, type WebhookConfiguration } from '../admission/webhook/webhook.ts'
import type { Access } from '../authz/access.ts'
import type { Clock } from '../base/clock.ts'
import { TimeSlice } from '../base/time-slice.ts'
import { webhookPreview as previewKind, type WebhookPreview } from '../kinds/ops/webhook-preview.ts'
import type { Labels } from '../model/label-selector.ts'
import type { Lookup } from '../model/lookup.ts'
import type { User } from '../model/user.ts'
import { groupName, type Vendor } from '../model/vendor.ts'
import type { Endpoint } from '../registry/endpoint.ts'
import { formsOf } from '../registry/object-forms.ts'
import type { Resource, ServedType } from '../registry/resource.ts'

export interface WebhookPreviewParts {
  readonly vendor: Vendor
  readonly clock: Clock
  readonly lookup: Lookup
  readonly access: () => Access
  /** Everything that is served. */
  readonly served: () => readonly ServedType[]
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

/** One answer: what the caller may list is asked once per type and namespace. */
class Preview {
  readonly #parts: WebhookPreviewParts
  readonly #user: User
  readonly #pace = new TimeSlice()
  readonly #allowed = new Map<string, boolean>()
  readonly hidden = new Set<string>()

  constructor(parts: WebhookPreviewParts, user: User) {
    this.#parts = parts
    this.#user = user
  }

  async typesOf(webhook: Webhook) {
    const found = []
    for (const resource of storedTypes(this.#parts)) {
      if (!ruledBy(webhook, resource)) continue
      const names = await this.#matching(webhook, resource)
      const { group, plural } = resource
      if (names.length > 0)
        found.push({ group, resource: plural, count: names.length, names: names.slice(0, maxNames) })
    }
    return found
  }

  async #matching(webhook: Webhook, resource: Resource): Promise<string[]> {
    const names: string[] = []
    for (const slice of resource.cache.slices({ namespace: undefined })) {
      for (const { namespace, name, selectable } of slice) {
        if (this.#pace.charge(4)) await this.#pace.yieldIfDue()
        const labels = selectable.labels ?? {}
        if (!(webhook.objectSelector?.matches(labels) ?? true)) continue
        if (!this.#inSelectedNamespace(webhook, resource, { namespace, labels })) continue
        if (await this.#mayList(resource, namespace)) names.push(namespace === '' ? name : `${namespace}/${name}`)
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
    const namespaces = { group: 'core', plural: 'namespaces' }
    const found = this.#parts.lookup.getCached(namespaces, { namespace: '', name: object.namespace })
    return namespaceSelector.matches(found?.object.metadata.labels ?? {})
  }

  async #mayList(resource: Resource, namespace: string): Promise<boolean> {
    const { group, plural } = resource
    const key = `${group}/${plural} ${namespace}`
    const known = this.#allowed.get(key)
    if (known !== undefined) return known
    const may = (await this.#may(resource, '')) || (namespace !== '' && (await this.#may(resource, namespace)))
    this.#allowed.set(key, may)
    if (!may) this.hidden.add(group === '' ? plural : `${plural}.${group}`)
    return may
  }

  async #may({ group, plural, kind }: Resource, namespace: string): Promise<boolean> {
    const attributes = { resource: true, verb: 'list', group, version: kind.version, plural, namespace } as const
    const { authorizer } = this.#parts.access()
    const decision = await authorizer({ user: this.#user, attributes: { ...attributes, subresource: '', name: '' } })
    return decision.verdict === 'allow'
  }
}

/** Every stored kind once, but for webhook configurations, which no webhook is asked about. */
function storedTypes({ served, vendor }: WebhookPreviewParts): Resource[] {
  const stored = served().flatMap((type) => (type.endpoint === undefined ? [type.stored ?? type] : []))
  const group = groupName(vendor, 'admissionregistration')
  const unique = new Map(stored.map((resource) => [`${resource.kind.group}/${resource.plural}`, resource]))
  return [...unique.values()].filter((resource) => resource.group !== group)
}

/** Whether a rule names the type in any version, for the objects themselves. */
function ruledBy(webhook: Webhook, resource: Resource): boolean {
  const namespaced = resource.kind.scope === 'Namespaced'
  return resource.versions.some((version) =>
    operations.some((operation) =>
      candidateOf(webhook, { operation, forms: formsOf(version), subresource: '', namespaced }),
    ),
  )
}
