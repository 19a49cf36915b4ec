/**
 * Parses the policy and the pod, and determines the effective settings of each container: its own settings, or else the
 * pod's.
 */
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { SecurityContext } from '../../../api/kinds/core/types/security-context.ts'
import type { PodSecurityPolicy } from '../../../api/kinds/policy/pod-security-policy.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'

export type PolicySpec = NonNullable<PodSecurityPolicy['spec']>
export type Annotations = { readonly [key: string]: string }

export interface Policy {
  readonly name: string
  readonly annotations: Annotations
  readonly spec: PolicySpec
  readonly vendor: Vendor
  /** Profiles allowed by the policy's annotation. Undefined if the annotation is absent. */
  readonly allowed: { readonly seccomp: Profiles; readonly appArmor: Profiles }
}

export type Profiles = ReadonlySet<string> | undefined

/** The name of the profile `runtime/default` before Kubernetes renamed it. */
export const dockerDefault = 'docker/default'

export function policyIn({ metadata, spec = {} }: PodSecurityPolicy, vendor: Vendor): Policy {
  const { name = '', annotations = {} } = metadata
  const allowedIn = (system: string): Profiles => {
    const key = vendorKey(vendor, 'allowedProfileNames', system)
    return Object.hasOwn(annotations, key) ? new Set(annotations[key]!.split(',')) : undefined
  }
  const allowed = { seccomp: withNewName(allowedIn(seccompDomain)), appArmor: allowedIn(appArmorDomain) }
  return { name, annotations, spec, vendor, allowed }
}

export const seccompDomain = 'seccomp.security.alpha'
export const appArmorDomain = 'apparmor.security.beta'

function withNewName(profiles: Profiles): Profiles {
  return profiles?.has(dockerDefault) ? new Set([...profiles, 'runtime/default']) : profiles
}

export interface JudgedPod {
  readonly annotations: Annotations
  readonly spec: PodSpec
}

export const containerLists = ['initContainers', 'containers', 'ephemeralContainers'] as const

type Shared = 'runAsUser' | 'runAsGroup' | 'runAsNonRoot' | 'seLinuxOptions'

export function effective<F extends Shared>(
  { securityContext: ofPod }: PodSpec,
  { securityContext: own }: Container,
  field: F,
): SecurityContext[F] {
  return own?.[field] ?? (ofPod?.[field] as SecurityContext[F])
}
