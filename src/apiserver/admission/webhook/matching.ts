/** Which webhooks a request reaches: by their rules, then by their selectors. */

import type { Lookup } from '../../../api/model/lookup.ts'
import { groupName } from '../../../api/model/vendor.ts'
import type { Labels } from '../../../api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../admission.ts'
import { inNamespace } from '../in-namespace.ts'
import type { Candidate, RequestType, WebhookConfigurations } from './configurations.ts'
import type { Webhook } from './webhook.ts'

const noCandidates: readonly Candidate[] = []

/** By their rules alone. No webhook is ever asked about webhook configurations: a broken one could not be mended. */
export function candidatesFor(configurations: WebhookConfigurations, request: AdmissionRequest): readonly Candidate[] {
  if (isConfiguration(request)) return noCandidates
  return configurations.candidates(typeOf(request))
}

function isConfiguration({ type, vendor }: AdmissionRequest): boolean {
  return (
    (type.plural === 'validatingwebhookconfigurations' || type.plural === 'mutatingwebhookconfigurations') &&
    type.group === groupName(vendor, 'admissionregistration')
  )
}

function typeOf({ operation, forms, subresource, namespace }: AdmissionRequest): RequestType {
  return { operation, forms, subresource, namespaced: namespace !== '' }
}

/** Whether the webhook's selectors let it see the request, as it is now. */
export async function isSelected(webhook: Webhook, request: AdmissionRequest, lookup: Lookup): Promise<boolean> {
  return matchesObject(webhook, request) && (await matchesNamespace(webhook, request, lookup))
}

/** The new object or the old one: what is taken out of a selection is seen once more. */
function matchesObject({ objectSelector }: Webhook, { object, oldObject, forms }: AdmissionRequest): boolean {
  if (objectSelector === undefined) return true
  return [object, oldObject].some((each) => {
    const labels = each && forms.labelsOf(each)
    return labels !== undefined && objectSelector.matches(labels)
  })
}

async function matchesNamespace(
  { namespaceSelector }: Webhook,
  request: AdmissionRequest,
  lookup: Lookup,
): Promise<boolean> {
  if (namespaceSelector === undefined) return true
  const place = namespaceOf(request)
  if (place === '' && !isNamespace(request)) return true
  return namespaceSelector.matches(await namespaceLabels(request, place, lookup))
}

/** The namespace that a request is about: a Namespace is in itself. '' where there is none. */
export function namespaceOf(request: AdmissionRequest): string {
  if (!isNamespace(request)) return request.namespace
  return request.drawnFrom === undefined ? request.name : ''
}

function isNamespace({ type }: AdmissionRequest): boolean {
  return type.plural === 'namespaces' && type.group === ''
}

/** A Namespace that is being written has the labels that it will have; any other those that it has now. */
function namespaceLabels(request: AdmissionRequest, place: string, lookup: Lookup): Labels | Promise<Labels> {
  const { object, subresource } = request
  if (isNamespace(request) && subresource === '' && object !== undefined) return object.metadata.labels ?? {}
  // The write then rests on these labels, unless the namespace is what is written.
  const looking = isNamespace(request) ? { ...request, namespace: place, restOn: undefined } : request
  return inNamespace(lookup, looking, ({ metadata }) => metadata.labels ?? {})
}
