/** The operating system of a pod, and the settings that are specific to one operating system. */
import {
  child,
  type FieldError,
  type FieldPath,
  forbidden,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import { field, s } from '../../../schema/schema.ts'
import { allContainers, type Containers } from './pod-containers.ts'
import type { PodSecurityContext, SecurityContext } from './security-context.ts'

export const podOs = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the operating system: linux or windows.' }) },
  { name: 'PodOS', doc: "The operating system of a pod's containers." },
)

interface PodOfSystem extends Containers {
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly shareProcessNamespace?: boolean
  readonly resources?: object
}

const systems = ['linux', 'windows']

export function checkOs(spec: PodOfSystem, path: FieldPath, context: RuleContext): FieldError[] {
  const { os } = spec
  if (os === undefined || !isEnabled('IdentifyPodOS', context)) return []
  const { name = '' } = os
  if (name === '') return [required(child(path, 'os.name'), 'cannot be empty')]
  if (!systems.includes(name)) return [notSupported(child(path, 'os'), name, systems)]
  return name === 'windows' ? checkWindows(spec, path) : checkLinux(spec, path)
}

const linuxOfPod: readonly (keyof PodSecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seLinuxChangePolicy',
  'seccompProfile',
  'fsGroup',
  'fsGroupChangePolicy',
  'sysctls',
  'runAsUser',
  'runAsGroup',
  'supplementalGroups',
  'supplementalGroupsPolicy',
]

const linuxOfContainer: readonly (keyof SecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
]

const why = 'cannot be set for a windows pod'

function checkWindows(spec: PodOfSystem, path: FieldPath): FieldError[] {
  const { securityContext = {}, hostUsers, hostPID, hostIPC, shareProcessNamespace, resources } = spec
  const settings = { hostPID: hostPID || undefined, hostIPC: hostIPC || undefined, hostUsers, shareProcessNamespace }
  return [
    ...checkUnset(settings, ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'], path),
    ...checkUnset(securityContext, linuxOfPod, child(path, 'securityContext')),
    ...(resources === undefined ? [] : [forbidden(child(path, 'resources'), 'may not be set for a windows pod')]),
    ...allContainers(spec, path).flatMap(([one, where]) =>
      checkUnset(one.securityContext ?? {}, linuxOfContainer, child(where, 'securityContext')),
    ),
  ]
}

function checkUnset<T extends object>(value: T, names: readonly (keyof T & string)[], path: FieldPath): FieldError[] {
  return names.filter((name) => value[name] !== undefined).map((name) => forbidden(child(path, name), why))
}

function checkLinux(spec: PodOfSystem, path: FieldPath): FieldError[] {
  const parts = [[spec, path] as const, ...allContainers(spec, path)]
  return parts
    .filter(([{ securityContext }]) => securityContext?.windowsOptions !== undefined)
    .map(([, where]) =>
      forbidden(child(where, 'securityContext.windowsOptions'), 'windows options cannot be set for a linux pod'),
    )
}
