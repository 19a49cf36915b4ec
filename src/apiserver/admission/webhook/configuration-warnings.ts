/**
 * Warns about webhook configurations that may lock out their owners. A warning is returned for each webhook that is
 * called for system namespaces, for leases or for the pods of its own backend. Other warnings concern references to
 * missing Services, and CA bundles without a certificate. These problems are not errors, because the configuration may
 * be created before its backend.
 */
import { X509Certificate } from 'node:crypto'
import { mutatingWebhookConfiguration as mutatingWebhookConfigurations } from '../../../api/kinds/admissionregistration/mutating-webhook-configuration.ts'
import { validatingWebhookConfiguration as validatingWebhookConfigurations } from '../../../api/kinds/admissionregistration/validating-webhook-configuration.ts'
import { namespace as namespaces } from '../../../api/kinds/core/namespace.ts'
import { service as services } from '../../../api/kinds/core/service.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import { systemNamespaces } from '../../../api/model/system-namespaces.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import type { AdmissionRequest, Control } from '../admission.ts'
import type { FormResource } from '../object-forms.ts'
import { ruleMatches } from './rules.ts'
import { compileConfiguration, type Phase, type Webhook, type WebhookConfiguration } from './webhook.ts'

/** Dependencies of the plugin that warns about webhook configurations. */
export interface WarningParts {
  readonly vendor: Vendor
  readonly lookup: Lookup
  /** Returns the served types. A webhook that matches no served type is harmless. */
  readonly servedTypes: () => readonly ServedResource[]
  readonly clock: AdmissionClock
}

/** A served resource type that webhook rules may match. */
export interface ServedResource extends FormResource {
  readonly namespaced: boolean
  readonly subresources: readonly string[]
}

type AdmissionClock = Parameters<typeof compileConfiguration>[2]

/** Returns a plugin that warns about risky webhook configurations. */
export function warnOfWebhooks(parts: WarningParts): Control<WebhookConfiguration> {
  return {
    name: 'webhook configuration warnings',
    handles: {
      operations: ['CREATE', 'UPDATE'],
      types: [validatingWebhookConfigurations, mutatingWebhookConfigurations],
      subresources: [''],
    },
    validate: (request) => {
      for (const webhook of webhooksOf(request, parts))
        for (const risk of risksOf(webhook, parts)) request.warn(`webhook ${JSON.stringify(webhook.name)}: ${risk}`)
    },
  }
}

function webhooksOf({ object, type }: AdmissionRequest<WebhookConfiguration>, { clock }: WarningParts): Webhook[] {
  const phase: Phase = type.plural.startsWith('mutating') ? 'mutating' : 'validating'
  return compileConfiguration(object, phase, clock)
}

function risksOf(webhook: Webhook, parts: WarningParts): string[] {
  if (!parts.servedTypes().some((resource) => isAskedAbout(webhook, resource))) return []
  return [
    ...systemRisks(webhook, parts),
    ...leaseRisks(webhook, parts),
    ...backendRisks(webhook, parts),
    ...serviceRisks(webhook, parts),
    ...authorityRisks(webhook),
  ]
}

const operations = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const

function isAskedAbout({ rules }: Webhook, { namespaced, subresources, ...resource }: ServedResource): boolean {
  return rules.some((rule) =>
    operations.some((operation) =>
      ['', ...subresources].some((subresource) => ruleMatches(rule, { operation, resource, subresource, namespaced })),
    ),
  )
}

const writes = ['CREATE', 'UPDATE'] as const

/** Whether the webhook is called for writes of the given resource type in the namespace. */
function intercepts(webhook: Webhook, resource: { group: string; resource: string }, place: Place): boolean {
  const { namespace, lookup } = place
  const asked = writes.some((operation) =>
    webhook.rules.some((rule) =>
      ruleMatches(rule, {
        operation,
        subresource: '',
        namespaced: true,
        resource: { version: 'v1', ...resource },
      }),
    ),
  )
  return asked && (webhook.namespaceSelector?.matches(labelsIn(lookup, namespace)) ?? true)
}

interface Place {
  readonly namespace: string
  readonly lookup: Lookup
}

function labelsIn(lookup: Lookup, name: string) {
  return lookup.getCached(namespaces, { namespace: '', name })?.object.metadata.labels ?? {}
}

const pods = { group: '', resource: 'pods' }
const maps = { group: '', resource: 'configmaps' }

function systemRisks(webhook: Webhook, { lookup }: WarningParts): string[] {
  const hit = systemNamespaces.filter((namespace) =>
    [pods, maps].some((resource) => intercepts(webhook, resource, { namespace, lookup })),
  )
  if (hit.length === 0) return []
  return [`it intercepts the system namespaces ${hit.join(', ')}; exclude them with a namespaceSelector`]
}

function leaseRisks(webhook: Webhook, { lookup, vendor }: WarningParts): string[] {
  const leases = { group: groupName(vendor, 'coordination'), resource: 'leases' }
  if (!systemNamespaces.some((namespace) => intercepts(webhook, leases, { namespace, lookup }))) return []
  return ['it intercepts leases, which nodes and controllers use as heartbeats']
}

/** Returns the warnings about the webhook's backend. A backend that must approve its own pods cannot be restarted. */
function backendRisks(webhook: Webhook, { lookup }: WarningParts): string[] {
  const { service } = webhook.address
  if (service === undefined || !intercepts(webhook, pods, { namespace: service.namespace, lookup })) return []
  return [`it intercepts pods in ${service.namespace}, where its own backend runs`]
}

function serviceRisks({ address: { service } }: Webhook, { lookup }: WarningParts): string[] {
  if (service === undefined) return []
  const { namespace, name } = service
  if (lookup.getCached(services, { namespace, name }) !== undefined) return []
  return [`its service ${namespace}/${name} does not exist`]
}

/**
 * Checks that the CA bundle contains a certificate. Does not warn about a missing bundle, because many installers add
 * it later.
 */
function authorityRisks({ address: { authority } }: Webhook): string[] {
  if (authority === undefined) return []
  try {
    new X509Certificate(authority)
    return []
  } catch {
    return ['its caBundle contains no certificate']
  }
}
