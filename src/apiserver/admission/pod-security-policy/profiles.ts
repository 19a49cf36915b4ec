/**
 * Seccomp, AppArmor and SELinux profiles that a policy allows, and its defaults. Seccomp and AppArmor profiles are
 * specified in annotations of the policy.
 */
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { SeccompProfile, SecurityContext } from '../../../api/kinds/core/types/security-context.ts'
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  required,
} from '../../../api/model/field-error.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import { list } from '../pod-security/check.ts'
import {
  appArmorDomain as appArmor,
  dockerDefault,
  type JudgedPod,
  type Policy,
  seccompDomain as seccomp,
} from './effective-settings.ts'

function defaultIn({ annotations, vendor }: Policy, system: string): string {
  return annotations[vendorKey(vendor, 'defaultProfileName', system)] ?? ''
}

const podSeccompKey = (vendor: Vendor) => vendorKey(vendor, 'pod', seccomp)
const seccompKey = (vendor: Vendor, { name = '' }: Container) => vendorKey(vendor, name, `container.${seccomp}`)
const appArmorKey = (vendor: Vendor, { name = '' }: Container) => vendorKey(vendor, name, `container.${appArmor}`)

/** Returns annotations that set the policy's default profiles wherever the pod itself sets no profile. */
export function missingProfiles(policy: Policy, pod: JudgedPod, containers: readonly Container[]) {
  const { vendor } = policy
  const added: { [key: string]: string } = {}
  const profile = defaultIn(policy, seccomp)
  if (profile !== '' && podSeccomp(policy, pod) === '') added[podSeccompKey(vendor)] = profile
  const armor = defaultIn(policy, appArmor)
  if (armor !== '')
    for (const container of containers) {
      const key = appArmorKey(vendor, container)
      if (!pod.annotations[key]) added[key] = armor
    }
  return added
}

function podSeccomp({ vendor }: Policy, { annotations, spec }: JudgedPod): string {
  return annotations[podSeccompKey(vendor)] || profileText(spec.securityContext?.seccompProfile)
}

function profileText(profile: SeccompProfile | undefined): string {
  if (profile === undefined) return ''
  if (profile.type === 'Localhost') return `localhost/${profile.localhostProfile ?? ''}`
  return profile.type === 'RuntimeDefault' ? 'runtime/default' : 'unconfined'
}

export function checkPodSeccomp(policy: Policy, pod: JudgedPod): FieldError[] {
  return checkSeccomp(policy, podSeccomp(policy, pod), at('metadata.annotations', podSeccompKey(policy.vendor)))
}

export function checkContainerSeccomp(policy: Policy, pod: JudgedPod, container: Container): FieldError[] {
  const key = seccompKey(policy.vendor, container)
  const own = pod.annotations[key] || profileText(container.securityContext?.seccompProfile)
  return checkSeccomp(policy, own || podSeccomp(policy, pod), at('metadata.annotations', key))
}

function checkSeccomp({ allowed: { seccomp: allowed } }: Policy, profile: string, path: FieldPath): FieldError[] {
  if (allowed === undefined) return profile === '' ? [] : [forbidden(path, 'seccomp may not be set')]
  if (allowed.has('*') || allowed.has(profile === dockerDefault ? 'runtime/default' : profile)) return []
  return [
    forbidden(
      path,
      `${profile || 'no profile'} is not an allowed seccomp profile; allowed profiles are ${list([...allowed])}`,
    ),
  ]
}

export function checkAppArmor(policy: Policy, pod: JudgedPod, container: Container): FieldError[] {
  const { appArmor: allowed } = policy.allowed
  if (allowed === undefined) return []
  const key = appArmorKey(policy.vendor, container)
  const profile = pod.annotations[key] ?? ''
  if (profile !== '' && allowed.has(profile)) return []
  const what = profile === '' ? 'AppArmor profile must be set' : `${profile} is not an allowed profile`
  return [forbidden(at('metadata.annotations', key), `${what}; allowed profiles are ${list([...allowed])}`)]
}

type SeLinuxOptions = SecurityContext['seLinuxOptions']

export function checkSeLinux({ spec }: Policy, own: SeLinuxOptions, path: FieldPath): FieldError[] {
  if (spec.seLinux?.rule !== 'MustRunAs') return []
  if (own === undefined) return [required(path, 'must match the policy')]
  const requiredOptions = spec.seLinux.seLinuxOptions ?? {}
  return (['level', 'role', 'type', 'user'] as const)
    .filter((field) => normal(field, own[field]) !== normal(field, requiredOptions[field]))
    .map((field) => invalid(child(path, field), own[field] ?? '', `must be ${requiredOptions[field] ?? ''}`))
}

/** Sorts the categories of an SELinux level, because `s0:c1,c2` and `s0:c2,c1` are equivalent. */
function normal(field: string, value = ''): string {
  const [sensitivity, categories, ...more] = value.split(':')
  if (field !== 'level' || categories === undefined || more.length > 0) return value
  return `${sensitivity}:${categories.split(',').sort().join(',')}`
}
