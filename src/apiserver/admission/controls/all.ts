/**
 * The only list of admission controls, in the order in which they run, whatever the order of flags. Adding one is its
 * file, its test and a line here.
 */

import type { Json } from '../../../api/json/json.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { HttpsCaller } from '../../outbound/https-caller.ts'
import type { Address } from '../../outbound/service-address.ts'
import type { Control } from '../admission.ts'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import type { OwnWrites } from '../own-writes.ts'
import type { QuotaActivity } from '../quota/activity.ts'
import { readLimitedResources } from '../quota/limited-resources.ts'
import type { KnownWebhooks } from '../webhook/known-webhooks.ts'
import {
  configuredMutatingAdmissionWebhook,
  configuredValidatingAdmissionWebhook,
  mutatingAdmissionWebhook,
  validatingAdmissionWebhook,
} from './admission-webhooks.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { alwaysPullImages } from './always-pull-images.ts'
import { certificateApproval, certificateSigning } from './certificate-signers.ts'
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts'
import { defaultIngressClass, defaultStorageClass } from './default-class.ts'
import { defaultTolerationSeconds, type TolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { configuredEventRateLimit, eventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { configuredImagePolicyWebhook, type ImagePolicyParts, imagePolicyWebhook } from './image-policy-webhook.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './limit-ranger.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { type OwnerType, ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { configuredPersistentVolumeLabel, persistentVolumeLabel } from './persistent-volume-label.ts'
import { configuredPodNodeSelector, podNodeSelector } from './pod-node-selector.ts'
import { configuredPodSecurity, podSecurity } from './pod-security.ts'
import { podSecurityPolicy } from './pod-security-policy.ts'
import { configuredPodTolerationRestriction, podTolerationRestriction } from './pod-toleration-restriction.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { securityContextDeny } from './security-context-deny.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

/** What controls may ask. */
export interface ControlParts extends ImagePolicyParts {
  readonly vendor: Vendor
  /** Other objects, with the revision to rest on. */
  readonly lookup: Lookup
  /** Whether somebody may do something. */
  readonly authorizer: Authorizer
  readonly clock: Clock
  /** Where all workers of this server count rates; undefined where it has one. */
  readonly sharedRates?: SharedArrayBuffer | undefined
  /** How a kind is served that owners are named by; undefined where it is not. */
  readonly ownerType: (apiVersion: string, kind: string) => OwnerType | undefined
  /** Where controls count what only they know. */
  readonly metrics: AdmissionMetrics
  /** What they write themselves. */
  readonly ownWrites: OwnWrites
  /** The writes that quotas account for. */
  readonly quotaActivity: QuotaActivity
  readonly log: Log
  readonly knownWebhooks: KnownWebhooks
  /** For those that ask others. */
  readonly caller: HttpsCaller
  /** The time that this server allows a request. */
  readonly requestLimitMs: number
  /** Where this server listens; undefined before it does. */
  readonly ownAddress: () => Address | undefined
  /** How long pods stay on nodes that are in trouble, unless they say so themselves. */
  readonly tolerationSeconds?: TolerationSeconds
}

/** A control that the server knows: its name, whether it is on by default, and how it is made. */
export interface ControlEntry {
  readonly name: string
  /** Whether it runs unless it is disabled. */
  readonly byDefault: boolean
  readonly make: (parts: ControlParts) => Control
  /**
   * Makes it with what the configuration file says of it (`configuration.ts` reads that). An error that it throws stops
   * the start, and names the file and the control. Controls without this take no configuration.
   */
  readonly configure?: (parts: ControlParts, configuration: Json) => Control | Promise<Control>
}

/** A control as a server has it. */
export interface ControlState extends Pick<ControlEntry, 'name' | 'byDefault'> {
  readonly enabled: boolean
  /** What it takes part in; none where it is not enabled. */
  readonly steps: readonly ('mutate' | 'validate')[]
}

/** Every control, in the order of the chain. */
export const allControls: readonly ControlEntry[] = [
  { name: 'AlwaysAdmit', byDefault: false, make: alwaysAdmit },
  { name: 'NamespaceAutoProvision', byDefault: false, make: namespaceAutoProvision },
  { name: 'NamespaceLifecycle', byDefault: true, make: namespaceLifecycle },
  { name: 'NamespaceExists', byDefault: false, make: namespaceExists },
  { name: 'SecurityContextDeny', byDefault: false, make: securityContextDeny },
  { name: 'LimitPodHardAntiAffinityTopology', byDefault: false, make: limitPodHardAntiAffinityTopology },
  { name: 'LimitRanger', byDefault: true, make: limitRanger },
  { name: 'ServiceAccount', byDefault: true, make: serviceAccount },
  { name: 'NodeRestriction', byDefault: false, make: nodeRestriction },
  { name: 'TaintNodesByCondition', byDefault: true, make: taintNodesByCondition },
  { name: 'AlwaysPullImages', byDefault: false, make: alwaysPullImages },
  {
    name: 'ImagePolicyWebhook',
    byDefault: false,
    make: imagePolicyWebhook,
    configure: configuredImagePolicyWebhook,
  },
  { name: 'PodSecurity', byDefault: true, make: podSecurity, configure: configuredPodSecurity },
  { name: 'PodSecurityPolicy', byDefault: false, make: podSecurityPolicy },
  { name: 'PodNodeSelector', byDefault: false, make: podNodeSelector, configure: configuredPodNodeSelector },
  { name: 'Priority', byDefault: true, make: priority },
  { name: 'DefaultTolerationSeconds', byDefault: true, make: defaultTolerationSeconds },
  {
    name: 'PodTolerationRestriction',
    byDefault: false,
    make: podTolerationRestriction,
    configure: configuredPodTolerationRestriction,
  },
  { name: 'EventRateLimit', byDefault: false, make: eventRateLimit, configure: configuredEventRateLimit },
  { name: 'ExtendedResourceToleration', byDefault: false, make: extendedResourceToleration },
  {
    name: 'PersistentVolumeLabel',
    byDefault: false,
    make: persistentVolumeLabel,
    configure: configuredPersistentVolumeLabel,
  },
  { name: 'DefaultStorageClass', byDefault: true, make: defaultStorageClass },
  { name: 'StorageObjectInUseProtection', byDefault: true, make: storageObjectInUseProtection },
  { name: 'OwnerReferencesPermissionEnforcement', byDefault: false, make: ownerReferencesPermissionEnforcement },
  { name: 'PersistentVolumeClaimResize', byDefault: true, make: persistentVolumeClaimResize },
  { name: 'RuntimeClass', byDefault: true, make: runtimeClass },
  { name: 'CertificateApproval', byDefault: true, make: certificateApproval },
  { name: 'CertificateSigning', byDefault: true, make: certificateSigning },
  { name: 'CertificateSubjectRestriction', byDefault: true, make: certificateSubjectRestriction },
  { name: 'DefaultIngressClass', byDefault: true, make: defaultIngressClass },
  { name: 'DenyServiceExternalIPs', byDefault: false, make: denyServiceExternalIps },
  // Those that change objects see what all controls above have made of them.
  {
    name: 'MutatingAdmissionWebhook',
    byDefault: true,
    make: mutatingAdmissionWebhook,
    configure: configuredMutatingAdmissionWebhook,
  },
  {
    name: 'ValidatingAdmissionWebhook',
    byDefault: true,
    make: validatingAdmissionWebhook,
    configure: configuredValidatingAdmissionWebhook,
  },
  {
    name: 'ResourceQuota',
    byDefault: true,
    make: resourceQuota,
    configure: (parts, value) => resourceQuota(parts, readLimitedResources(value, parts.vendor)),
  },
  { name: 'AlwaysDeny', byDefault: false, make: alwaysDeny },
]
