/** Selects the webhooks that are called for a request, by their rules and then by their selectors. */

import type { Lookup } from '../../../api/model/lookup.ts'
import { groupName } from '../../../api/model/vendor.ts'
import type { Labels } from '../../../api/selectors/label-selector.ts'
import type { AdmissionRequest } from '../admission.ts'
import { decideByNamespace } from '../namespace-decision.ts'
import type { Candidate, RequestType, WebhookConfigurations } from './configurations.ts'
import type { Webhook } from './webhook.ts'

const noCandidates: readonly Candidate[] = []

/**
 * Returns the webhooks whose rules match. Webhooks are never called for webhook configurations, because otherwise a
 * broken configuration could not be repaired.
 */
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

/** The namespace and object selectors of a webhook or a policy. */
type Selectors = Pick<Webhook, 'objectSelector' | 'namespaceSelector'>

/** Whether the webhook's selectors match the current state of the request's object. */
export async function isSelected(
  { objectSelector, namespaceSelector }: Selectors,
  request: AdmissionRequest,
  lookup: Lookup,
): Promise<boolean> {
  if (objectSelector !== undefined && !objectLabels(request).some((labels) => objectSelector.matches(labels)))
    return false
  if (namespaceSelector === undefined || !isInNamespace(request)) return true
  return namespaceSelector.matches(await namespaceLabels(request, lookup))
}

/**
 * Returns the labels of the new and the old object. A selector needs to match only one of them, so a webhook is also
 * called for the update that causes an object to stop matching.
 */
export function objectLabels({ object, oldObject, forms }: AdmissionRequest): readonly Labels[] {
  return [object, oldObject].map((each) => each && forms.labelsOf(each)).filter((labels) => labels !== undefined)
}

/**
 * Whether namespace selectors apply to a request. They do for namespaced objects and for Namespaces themselves, but not
 * for other cluster-scoped objects.
 */
export function isInNamespace(request: AdmissionRequest): boolean {
  return request.namespace !== '' || isNamespace(request)
}

/**
 * Returns the namespace of a request. A Namespace object is treated as if it were in the namespace of the same name.
 * Returns '' for other cluster-scoped objects.
 */
export function namespaceOf(request: AdmissionRequest): string {
  if (!isNamespace(request)) return request.namespace
  return request.drawnFrom === undefined ? request.name : ''
}

function isNamespace({ type }: AdmissionRequest): boolean {
  return type.plural === 'namespaces' && type.group === ''
}

/** Returns the labels to compare with namespace selectors. For a write to a Namespace, these are its new labels. */
export function namespaceLabels(request: AdmissionRequest, lookup: Lookup): Labels | Promise<Labels> {
  const { object, subresource } = request
  if (isNamespace(request) && subresource === '' && object !== undefined) return object.metadata.labels ?? {}
  // A write to a Namespace need not depend on that Namespace's stored state.
  const looking = isNamespace(request) ? { ...request, namespace: namespaceOf(request), dependOn: undefined } : request
  return decideByNamespace(lookup, looking, ({ metadata }) => metadata.labels ?? {})
}
