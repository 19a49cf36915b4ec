/**
 * All admission plugins in their execution order. Flags enable and disable plugins but do not change the order. A new
 * plugin needs its own file, a test and an entry in this list.
 */

import type { Json } from '../../../api/json/json.ts'
import type { Lookup } from '../../../api/model/lookup.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Availability, Emulation } from '../../../api/versions/availability.ts'
import type { Log } from '../../../base/telemetry/log.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { HttpsCaller } from '../../outbound/https-caller.ts'
import type { Address } from '../../outbound/service-address.ts'
import type { Control } from '../admission.ts'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import type { OwnWrites } from '../own-writes.ts'
import type { ValidatingPolicies } from '../policy/families.ts'
import type { FindParameterType } from '../policy/parameters.ts'
import type { LoadPatterns } from '../policy/policy-faults.ts'
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
import { certificateApproval, certificateSigning, clusterTrustBundleAttest } from './certificate-signers.ts'
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts'
import { defaultIngressClass, defaultStorageClass } from './default-class.ts'
import { defaultTolerationSeconds, type TolerationSeconds } from './default-toleration-seconds.ts'
import { denyServiceExternalIps } from './deny-service-external-ips.ts'
import { configuredEventRateLimit, eventRateLimit } from './event-rate-limit.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { configuredImagePolicyWebhook, type ImagePolicyParts, imagePolicyWebhook } from './image-policy-webhook.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { limitRanger } from './limit-ranger.ts'
import { mutatingAdmissionPolicy } from './mutating-admission-policy.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { nodeRestriction } from './node-restriction.ts'
import { type OwnerType, ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { configuredPersistentVolumeLabel, persistentVolumeLabel } from './persistent-volume-label.ts'
import { configuredPodNodeSelector, podNodeSelector } from './pod-node-selector.ts'
import { podResizeValidator } from './pod-resize-validator.ts'
import { configuredPodSecurity, podSecurity } from './pod-security.ts'
import { podSecurityPolicy } from './pod-security-policy.ts'
import { configuredPodTolerationRestriction, podTolerationRestriction } from './pod-toleration-restriction.ts'
import { podTopologyLabels } from './pod-topology-labels.ts'
import { priority } from './priority.ts'
import { resourceQuota } from './resource-quota.ts'
import { runtimeClass } from './runtime-class.ts'
import { securityContextDeny } from './security-context-deny.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'
import { validatingAdmissionPolicy } from './validating-admission-policy.ts'

/** Dependencies of the admission plugins. Each plugin uses some of them. */
export interface ControlParts extends ImagePolicyParts {
  readonly vendor: Vendor
  /** The emulated Kubernetes version and the enabled feature gates. */
  readonly emulation: Emulation
  /** Looks up other objects that a plugin depends on, with their revisions. */
  readonly lookup: Lookup
  /** Decides what users may do, for plugins that require additional permissions. */
  readonly authorizer: Authorizer
  readonly clock: Clock
  /** Shared memory for the event rate counters of all workers. Undefined if the server has one worker. */
  readonly sharedRates?: SharedArrayBuffer | undefined
  /**
   * Finds the resource type of the owner in an owner reference. Returns undefined if the server does not serve the
   * owner's kind.
   */
  readonly ownerType: (apiVersion: string, kind: string) => OwnerType | undefined
  /** Records durations and rejections, per plugin. */
  readonly metrics: AdmissionMetrics
  /** Performs the writes that admission plugins need, such as an update of a quota's status. */
  readonly ownWrites: OwnWrites
  /** Tracks in-flight writes that change quota usage. */
  readonly quotaActivity: QuotaActivity
  readonly log: Log
  readonly knownWebhooks: KnownWebhooks
  /** Finds the resource type that a policy's `paramKind` names. */
  readonly findParameterType: FindParameterType
  /** Loads the engine for regular expressions in CEL. */
  readonly loadPatterns: LoadPatterns
  /** The stored ValidatingAdmissionPolicies, which are shared with policy reports. */
  readonly validatingPolicies: ValidatingPolicies
  /** Sends requests to webhooks. */
  readonly caller: HttpsCaller
  /** This server's request timeout in milliseconds. */
  readonly requestLimitMs: number
  /** Returns the server's own listening address, or undefined before the server listens. */
  readonly ownAddress: () => Address | undefined
  /** Default toleration times of pods in seconds: one for a not-ready node and one for an unreachable node. */
  readonly tolerationSeconds?: TolerationSeconds
}

/** An admission plugin's name, its default state, and the Kubernetes versions that include the plugin. */
export interface ControlName extends Pick<Availability, 'since' | 'until'> {
  readonly name: string
  /** Whether the plugin is enabled by default. */
  readonly byDefault: boolean
}

/** An admission plugin that can be enabled: its name, default state and constructor. */
export interface ControlEntry extends ControlName {
  readonly make: (parts: ControlParts) => Control
  /**
   * Creates the plugin from its section of the admission configuration file. An error prevents the server from
   * starting, and the error message names the file and the plugin. A plugin without this method cannot be configured.
   */
  readonly configure?: (parts: ControlParts, configuration: Json) => Control | Promise<Control>
}

/**
 * The state of an admission plugin on this server: its name, whether it is enabled, and the phases in which it runs.
 */
export interface ControlState extends Pick<ControlEntry, 'name' | 'byDefault'> {
  readonly enabled: boolean
  /** The phases in which the plugin takes part. Empty if the plugin is disabled. */
  readonly steps: readonly ('mutate' | 'validate')[]
}

/** All admission plugins in execution order. */
export const allControls: readonly ControlEntry[] = [
  { name: 'AlwaysAdmit', byDefault: false, make: alwaysAdmit },
  { name: 'NamespaceAutoProvision', byDefault: false, make: namespaceAutoProvision },
  { name: 'NamespaceLifecycle', byDefault: true, make: namespaceLifecycle },
  { name: 'NamespaceExists', byDefault: false, make: namespaceExists },
  { name: 'SecurityContextDeny', byDefault: false, until: '1.30', make: securityContextDeny },
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
  { name: 'PodSecurityPolicy', byDefault: false, until: '1.25', make: podSecurityPolicy },
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
    until: '1.31',
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
  { name: 'ClusterTrustBundleAttest', byDefault: true, since: '1.27', make: clusterTrustBundleAttest },
  { name: 'CertificateSubjectRestriction', byDefault: true, make: certificateSubjectRestriction },
  { name: 'DefaultIngressClass', byDefault: true, make: defaultIngressClass },
  { name: 'DenyServiceExternalIPs', byDefault: false, make: denyServiceExternalIps },
  { name: 'PodTopologyLabels', byDefault: true, since: '1.33', make: podTopologyLabels },
  { name: 'MutatingAdmissionPolicy', byDefault: true, since: '1.32', make: mutatingAdmissionPolicy },
  // Mutating webhooks receive the object with all changes made by the plugins before them in this list.
  {
    name: 'MutatingAdmissionWebhook',
    byDefault: true,
    make: mutatingAdmissionWebhook,
    configure: configuredMutatingAdmissionWebhook,
  },
  {
    name: 'ValidatingAdmissionPolicy',
    byDefault: true,
    since: '1.26',
    make: validatingAdmissionPolicy,
  },
  {
    name: 'ValidatingAdmissionWebhook',
    byDefault: true,
    make: validatingAdmissionWebhook,
    configure: configuredValidatingAdmissionWebhook,
  },
  { name: 'PodResizeValidator', byDefault: true, since: '1.36', make: podResizeValidator },
  {
    name: 'ResourceQuota',
    byDefault: true,
    make: resourceQuota,
    configure: (parts, value) => resourceQuota(parts, readLimitedResources(value, parts.vendor)),
  },
  { name: 'AlwaysDeny', byDefault: false, make: alwaysDeny },
]
