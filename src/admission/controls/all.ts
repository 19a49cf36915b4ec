/**
 * The only list of admission controls, in the order in which they run, whatever the order of flags. Adding one is its
 * file, its test and a line here.
 */
import type { Authorizer } from '../../authz/authorizer.ts'
import type { Json } from '../../model/json.ts'
import type { Lookup } from '../../model/lookup.ts'
import type { Vendor } from '../../model/vendor.ts'
import type { Control } from '../admission.ts'
import type { AdmissionMetrics } from '../admission-metrics.ts'
import { alwaysAdmit, alwaysDeny } from './always.ts'
import { certificateApproval, certificateSigning } from './certificate-signers.ts'
import { certificateSubjectRestriction } from './certificate-subject-restriction.ts'
import { defaultIngressClass, defaultStorageClass } from './default-class.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { configuredPodSecurity, podSecurity } from './pod-security.ts'
import { priority } from './priority.ts'
import { runtimeClass } from './runtime-class.ts'
import { serviceAccount } from './service-account.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

/** What controls may ask. */
export interface ControlParts {
  readonly vendor: Vendor
  /** Other objects, with the revision to rest on. */
  readonly lookup: Lookup
  /** Whether somebody may do something. */
  readonly authorizer: Authorizer
  /** Where controls count what only they know. */
  readonly metrics: AdmissionMetrics
}

export interface ControlEntry {
  readonly name: string
  /** Whether it runs unless it is disabled. */
  readonly byDefault: boolean
  readonly make: (parts: ControlParts) => Control
  /**
   * Makes it with what the configuration file says of it (`configuration.ts` reads that). An error that it throws stops
   * the start, and names the file and the control. Controls without this take no configuration.
   */
  readonly configure?: (parts: ControlParts, configuration: Json) => Control
}

export const allControls: readonly ControlEntry[] = [
  { name: 'AlwaysAdmit', byDefault: false, make: alwaysAdmit },
  { name: 'NamespaceLifecycle', byDefault: true, make: namespaceLifecycle },
  { name: 'ServiceAccount', byDefault: true, make: serviceAccount },
  { name: 'TaintNodesByCondition', byDefault: true, make: taintNodesByCondition },
  { name: 'PodSecurity', byDefault: true, make: podSecurity, configure: configuredPodSecurity },
  { name: 'Priority', byDefault: true, make: priority },
  { name: 'DefaultTolerationSeconds', byDefault: true, make: defaultTolerationSeconds },
  { name: 'DefaultStorageClass', byDefault: true, make: defaultStorageClass },
  { name: 'StorageObjectInUseProtection', byDefault: true, make: storageObjectInUseProtection },
  { name: 'RuntimeClass', byDefault: true, make: runtimeClass },
  { name: 'CertificateApproval', byDefault: true, make: certificateApproval },
  { name: 'CertificateSigning', byDefault: true, make: certificateSigning },
  { name: 'CertificateSubjectRestriction', byDefault: true, make: certificateSubjectRestriction },
  { name: 'DefaultIngressClass', byDefault: true, make: defaultIngressClass },
  { name: 'AlwaysDeny', byDefault: false, make: alwaysDeny },
]
