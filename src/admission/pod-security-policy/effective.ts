/** What a policy and a pod are to the rules here, and what counts for a container: its own word, else that of its pod. */
import type { Container } from '../../kinds/core/types/container.ts'
import type { PodSpec } from '../../kinds/core/types/pod-spec.ts'
import type { SecurityContext } from '../../kinds/core/types/security-context.ts'
import type { PodSecurityPolicy } from '../../kinds/policy/pod-security-policy.ts'
import type { ApiObject } from '../../model/object.ts'
import type { Vendor } from '../../model/vendor.ts'

export type PolicySpec = NonNullable<PodSecurityPolicy['spec']>
export type Annotations = { readonly [key: string]: string }

export interface Policy {
  readonly name: string
  readonly annotations: Annotations
  readonly spec: PolicySpec
  readonly vendor: Vendor
}

export function policyIn(object: ApiObject, vendor: Vendor): Policy {
  const { metadata, spec = {} } = object as PodSecurityPolicy & ApiObject
  return { name: metadata.name!, annotations: metadata.annotations ?? {}, spec, vendor }
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
