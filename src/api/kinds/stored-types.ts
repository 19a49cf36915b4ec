/**
 * The built-in kinds whose stored objects other parts of the server look up or handle, with the types of their objects:
 * what is found under `pods` is a `Pod`.
 */
import type { StoredType } from '../model/lookup.ts'
import type { KindOf } from '../schema/kind.ts'
import { mutatingWebhookConfiguration } from './admissionregistration/mutating-webhook-configuration.ts'
import { validatingWebhookConfiguration } from './admissionregistration/validating-webhook-configuration.ts'
import { certificateSigningRequest } from './certificates/certificate-signing-request.ts'
import { endpoints as endpointsKind } from './core/endpoints.ts'
import { event } from './core/event.ts'
import { limitRange } from './core/limit-range.ts'
import { namespace } from './core/namespace.ts'
import { node } from './core/node.ts'
import { persistentVolume } from './core/persistent-volume.ts'
import { persistentVolumeClaim } from './core/persistent-volume-claim.ts'
import { pod } from './core/pod.ts'
import { resourceQuota } from './core/resource-quota.ts'
import { secret } from './core/secret.ts'
import { service } from './core/service.ts'
import { serviceAccount } from './core/service-account.ts'
import { flowSchema } from './flowcontrol/flow-schema.ts'
import { priorityLevelConfiguration } from './flowcontrol/priority-level-configuration.ts'
import { ingress } from './networking/ingress.ts'
import { ingressClass } from './networking/ingress-class.ts'
import { runtimeClass } from './node/runtime-class.ts'
import { certificateDenyList } from './ops/certificate-deny-list.ts'
import { podDisruptionBudget } from './policy/pod-disruption-budget.ts'
import { podSecurityPolicy } from './policy/pod-security-policy.ts'
import { priorityClass } from './scheduling/priority-class.ts'
import { storageClass } from './storage/storage-class.ts'
import { volumeAttachment } from './storage/volume-attachment.ts'

export const pods = storedType(pod)
export const nodes = storedType(node)
export const namespaces = storedType(namespace)
export const services = storedType(service)
export const endpoints = storedType(endpointsKind)
export const secrets = storedType(secret)
export const serviceAccounts = storedType(serviceAccount)
export const limitRanges = storedType(limitRange)
export const resourceQuotas = storedType(resourceQuota)
export const persistentVolumes = storedType(persistentVolume)
export const persistentVolumeClaims = storedType(persistentVolumeClaim)
export const events = storedType(event)
export const podDisruptionBudgets = storedType(podDisruptionBudget)
export const podSecurityPolicies = storedType(podSecurityPolicy)
export const priorityClasses = storedType(priorityClass)
export const storageClasses = storedType(storageClass)
export const ingresses = storedType(ingress)
export const ingressClasses = storedType(ingressClass)
export const runtimeClasses = storedType(runtimeClass)
export const certificateSigningRequests = storedType(certificateSigningRequest)
export const flowSchemas = storedType(flowSchema)
export const priorityLevelConfigurations = storedType(priorityLevelConfiguration)
export const certificateDenyLists = storedType(certificateDenyList)
export const mutatingWebhookConfigurations = storedType(mutatingWebhookConfiguration)
export const validatingWebhookConfigurations = storedType(validatingWebhookConfiguration)
export const volumeAttachments = storedType(volumeAttachment)

/** The key of a kind's stored objects, for look-ups and admission controls. */
export function storedType<T>({ group, plural }: KindOf<T>): StoredType<T> {
  return { group, plural }
}
