/** Applies the defaults of a policy to a pod. Returns the same object if nothing changes. */

import { defined } from '../../../api/json/json.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import type { PodSecurityContext, SecurityContext } from '../../../api/kinds/core/types/security-context.ts'
import { isExplicitlyEmpty } from '../../../api/schema/explicit-empty.ts'
import { containersOf } from '../pod-security/check.ts'
import { fillCapabilities } from './capabilities.ts'
import { containerLists, effective, type JudgedPod, type Policy, type PolicySpec } from './effective-settings.ts'
import { idFrom, type Ran } from './ids.ts'
import { missingProfiles } from './profiles.ts'

export function filled(policy: Policy, pod: JudgedPod): JudgedPod {
  const spec = fillSpec(policy.spec, pod.spec)
  const added = missingProfiles(policy, pod, containersOf(pod.spec))
  if (spec === pod.spec && Object.keys(added).length === 0) return pod
  return { spec, annotations: { ...pod.annotations, ...added } }
}

function fillSpec(policy: PolicySpec, spec: PodSpec): PodSpec {
  const defaults = defined({
    ...contextOf(policy, spec),
    ...(spec.runtimeClassName === undefined ? { runtimeClassName: policy.runtimeClass?.defaultRuntimeClassName } : {}),
  })
  const next: PodSpec = Object.keys(defaults).length === 0 ? spec : { ...spec, ...defaults }
  const lists = containerLists.flatMap((list) => {
    const containers = spec[list] ?? []
    const changed = containers.map((one) => fillContainer(policy, next, one))
    return changed.some((one, i) => one !== containers[i]) ? [[list, changed] as const] : []
  })
  return lists.length === 0 ? next : { ...next, ...Object.fromEntries(lists) }
}

function contextOf(policy: PolicySpec, { securityContext: own = {} }: PodSpec): Pick<PodSpec, 'securityContext'> {
  const group = isExplicitlyEmpty(own, 'supplementalGroups') ? undefined : idFrom(policy.supplementalGroups)
  const defaults: Partial<PodSecurityContext> = defined({
    supplementalGroups: own.supplementalGroups === undefined && group !== undefined ? [group] : undefined,
    fsGroup: own.fsGroup === undefined ? idFrom(policy.fsGroup) : undefined,
    seLinuxOptions: own.seLinuxOptions === undefined ? seLinuxOf(policy) : undefined,
  })
  return Object.keys(defaults).length === 0 ? {} : { securityContext: { ...own, ...defaults } }
}

function seLinuxOf({ seLinux }: PolicySpec) {
  return seLinux?.rule === 'MustRunAs' ? seLinux.seLinuxOptions : undefined
}

function fillContainer(policy: PolicySpec, spec: PodSpec, container: Container): Container {
  const own = container.securityContext ?? {}
  const user = effective(spec, container, 'runAsUser') ?? idFrom(policy.runAsUser)
  const group = effective(spec, container, 'runAsGroup') ?? idFrom(policy.runAsGroup)
  const capabilities = fillCapabilities(policy, own.capabilities)
  const next: SecurityContext = {
    ...own,
    ...defined({
      runAsUser: spec.securityContext?.runAsUser === user ? own.runAsUser : user,
      runAsGroup: spec.securityContext?.runAsGroup === group ? own.runAsGroup : group,
      seLinuxOptions: own.seLinuxOptions ?? (spec.securityContext?.seLinuxOptions ? undefined : seLinuxOf(policy)),
      runAsNonRoot:
        own.runAsNonRoot ??
        nonRootOf(policy, { runAsNonRoot: effective(spec, container, 'runAsNonRoot'), runAsUser: user }),
      capabilities,
      readOnlyRootFilesystem: own.readOnlyRootFilesystem ?? (policy.readOnlyRootFilesystem || undefined),
      allowPrivilegeEscalation: own.allowPrivilegeEscalation ?? escalationOf(policy),
    }),
  }
  const isSame = Object.entries(next).every(([key, value]) => own[key as keyof SecurityContext] === value)
  return isSame ? container : { ...container, securityContext: next }
}

/**
 * Returns the default for runAsNonRoot. If a pod must not run as root but sets no user, the node must check the user of
 * the image.
 */
function nonRootOf({ runAsUser: { rule } = {} }: PolicySpec, { runAsNonRoot, runAsUser }: Ran): true | undefined {
  return rule === 'MustRunAsNonRoot' && runAsNonRoot === undefined && runAsUser === undefined ? true : undefined
}

function escalationOf({
  allowPrivilegeEscalation: may = true,
  defaultAllowPrivilegeEscalation: usual,
}: PolicySpec): boolean | undefined {
  return usual ?? (may ? undefined : false)
}
