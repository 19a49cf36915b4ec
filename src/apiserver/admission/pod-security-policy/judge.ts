/** Checks a pod against a policy. Returns an error for each violation, with the path of the field. */

import { keysOf } from '../../../api/json/json.ts'
import type { Container } from '../../../api/kinds/core/types/container.ts'
import type { PodSpec } from '../../../api/kinds/core/types/pod-spec.ts'
import { at, child, type FieldError, type FieldPath, forbidden, invalid } from '../../../api/model/field-error.ts'
import { safeSysctls } from '../pod-security/checks/sysctls.ts'
import { checkCapabilities } from './capabilities.ts'
import { containerLists, effective, type JudgedPod, type Policy, type PolicySpec } from './effective-settings.ts'
import { checkIds, checkUser } from './ids.ts'
import { checkAppArmor, checkContainerSeccomp, checkPodSeccomp, checkSeLinux } from './profiles.ts'
import { checkVolumes } from './volumes.ts'

export function faultsOf(policy: Policy, pod: JudgedPod): FieldError[] {
  const { spec } = pod
  const { securityContext: context = {} } = spec
  const path = 'spec.securityContext'
  return [
    ...checkIds(policy.spec.fsGroup, context.fsGroup === undefined ? [] : [context.fsGroup], child(path, 'fsGroup')),
    ...checkIds(policy.spec.supplementalGroups, context.supplementalGroups ?? [], child(path, 'supplementalGroups')),
    ...checkPodSeccomp(policy, pod),
    ...checkSeLinux(policy, context.seLinuxOptions, child(path, 'seLinuxOptions')),
    ...checkHost(policy.spec, spec, path),
    ...checkSysctls(policy.spec, spec, child(path, 'sysctls')),
    ...checkVolumes(policy.spec, spec),
    ...checkRuntimeClass(policy.spec, spec),
    ...containerLists.flatMap((list) =>
      ((spec[list] ?? []) as Container[]).flatMap((container, i) =>
        checkContainer(policy, pod, { container, path: at(child('spec', list), i) }),
      ),
    ),
  ]
}

const hostFields = { hostNetwork: 'Host network', hostPID: 'Host PID', hostIPC: 'Host IPC' } as const

function checkHost(policy: PolicySpec, spec: PodSpec, path: FieldPath): FieldError[] {
  return keysOf(hostFields)
    .filter((field) => spec[field] && !policy[field])
    .map((field) => invalid(child(path, field), true, `${hostFields[field]} is not allowed to be used`))
}

function checkSysctls(policy: PolicySpec, { securityContext }: PodSpec, path: FieldPath): FieldError[] {
  const { forbiddenSysctls: banned = [], allowedUnsafeSysctls: allowed = [] } = policy
  return (securityContext?.sysctls ?? []).flatMap(({ name = '' }, i) => {
    if (matches(name, banned)) return [forbidden(at(path, i), `sysctl "${name}" is not allowed`)]
    if (safeSysctls.has(name) || matches(name, allowed)) return []
    return [forbidden(at(path, i), `unsafe sysctl "${name}" is not allowed`)]
  })
}

function matches(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}

function checkRuntimeClass({ runtimeClass }: PolicySpec, { runtimeClassName: name }: PodSpec): FieldError[] {
  if (runtimeClass === undefined || name === undefined) return []
  const { allowedRuntimeClassNames: allowed = [] } = runtimeClass
  if (allowed.includes('*') || allowed.includes(name)) return []
  return [forbidden('spec.runtimeClassName', `${name} is not allowed; allowed values are ${allowed.join(', ')}`)]
}

interface Placed {
  readonly container: Container
  readonly path: FieldPath
}

function checkContainer(policy: Policy, pod: JudgedPod, { container, path }: Placed): FieldError[] {
  const context = child(path, 'securityContext')
  const group = effective(pod.spec, container, 'runAsGroup')
  const ran = {
    runAsUser: effective(pod.spec, container, 'runAsUser'),
    runAsNonRoot: effective(pod.spec, container, 'runAsNonRoot'),
  }
  return [
    ...checkUser(policy.spec.runAsUser, ran, context),
    ...checkIds(policy.spec.runAsGroup, group === undefined ? [] : [group], child(context, 'runAsGroup')),
    ...checkSeLinux(policy, effective(pod.spec, container, 'seLinuxOptions'), child(context, 'seLinuxOptions')),
    ...checkAppArmor(policy, pod, container),
    ...checkContainerSeccomp(policy, pod, container),
    ...checkRights(policy.spec, container, context),
    ...checkCapabilities(policy.spec, container.securityContext?.capabilities, child(context, 'capabilities')),
    ...checkPorts(policy.spec, container, path),
  ]
}

function checkRights(policy: PolicySpec, { securityContext = {} }: Container, path: FieldPath): FieldError[] {
  const {
    privileged,
    readOnlyRootFilesystem: readOnly,
    allowPrivilegeEscalation: escalates,
    procMount,
  } = securityContext
  const procMounts = policy.allowedProcMountTypes ?? ['Default']
  return [
    ...(privileged && !policy.privileged
      ? [invalid(child(path, 'privileged'), true, 'Privileged containers are not allowed')]
      : []),
    ...(procMount !== undefined && !procMounts.includes('*') && !procMounts.includes(procMount)
      ? [invalid(child(path, 'procMount'), procMount, 'is not allowed')]
      : []),
    ...(policy.readOnlyRootFilesystem && !readOnly
      ? [invalid(child(path, 'readOnlyRootFilesystem'), readOnly ?? null, 'must be true')]
      : []),
    ...(escalates && policy.allowPrivilegeEscalation === false
      ? [
          invalid(
            child(path, 'allowPrivilegeEscalation'),
            true,
            'Allowing privilege escalation for containers is not allowed',
          ),
        ]
      : []),
  ]
}

function checkPorts({ hostPorts = [] }: PolicySpec, { ports = [] }: Container, path: FieldPath): FieldError[] {
  const isAllowed = (port: number) => hostPorts.some(({ min = 0, max = 0 }) => port >= min && port <= max)
  const rangesText = hostPorts.map(({ min = 0, max = 0 }) => `${min}-${max}`).join(', ')
  return ports
    .map(({ hostPort = 0 }) => hostPort)
    .filter((port) => port > 0 && !isAllowed(port))
    .map((port) =>
      invalid(
        child(path, 'hostPort'),
        port,
        `Host port ${port} is not allowed to be used. Allowed ports: [${rangesText}]`,
      ),
    )
}
