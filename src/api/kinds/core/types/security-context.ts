/** Security contexts: the privileges of a pod and its containers. */
import {
  at,
  child,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import { isEnabled, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { appArmorProfile } from './app-armor-profile.ts'
import { checkDescendingPath } from './file-paths.ts'
import { checkSysctls, sysctl } from './sysctls.ts'

const capabilities = s.object(
  {
    add: field(1, s.list(s.string()), { doc: 'Linux capabilities to add.' }),
    drop: field(2, s.list(s.string()), { doc: 'Linux capabilities to drop.' }),
  },
  { name: 'Capabilities', doc: "Linux capabilities to add to the runtime's defaults, or to drop from them." },
)

export const seLinuxOptions = s.object(
  {
    user: field(1, s.string(), { doc: 'SELinux user label.' }),
    role: field(2, s.string(), { doc: 'SELinux role label.' }),
    type: field(3, s.string(), { doc: 'SELinux type label.' }),
    level: field(4, s.string(), { doc: 'SELinux level label.' }),
  },
  { name: 'core.v1.SELinuxOptions', doc: 'SELinux labels for a container.' },
)

const windowsFields = {
  gmsaCredentialSpecName: field(1, s.string(), { zeroValue: 'keep', doc: 'Name of the GMSA credential spec.' }),
  gmsaCredentialSpec: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Content of the GMSA credential spec. At most 64 KiB.',
  }),
  runAsUserName: field(3, s.string(), {
    zeroValue: 'keep',
    doc: "Windows user that runs the container, as `user` or `DOMAIN\\user`. Defaults to the image's user.",
  }),
  hostProcess: field(4, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the container runs as a host process. Must be the same for all containers in the pod.',
  }),
}

const windowsOptions = s.object(windowsFields, {
  name: 'WindowsSecurityContextOptions',
  doc: 'Security settings that apply only to Windows.',
  check: checkWindows,
})

const seccompFields = {
  type: field(1, s.oneOf('Localhost', 'RuntimeDefault', 'Unconfined'), {
    zeroValue: 'write',
    required: true,
    doc: 'Type of the profile: Localhost (a file on the node), RuntimeDefault or Unconfined.',
  }),
  localhostProfile: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Relative path of the profile file on the node. Required for type Localhost and not allowed otherwise.',
  }),
}

export type SeccompProfile = InferFields<typeof seccompFields>

const seccompProfile = s.object(seccompFields, {
  name: 'SeccompProfile',
  doc: 'Seccomp profile: the allowed system calls.',
  check: checkSeccomp,
})

const containerFields = {
  capabilities: field(1, capabilities, { doc: 'Linux capabilities to add or drop.' }),
  privileged: field(2, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the container runs in privileged mode, with root access to the node. Defaults to false.',
  }),
  seLinuxOptions: field(3, seLinuxOptions, { doc: 'SELinux labels for the container.' }),
  windowsOptions: field(10, windowsOptions, { doc: 'Windows settings for the container.' }),
  runAsUser: field(4, s.int64(), {
    zeroValue: 'keep',
    doc: "User ID that runs the container, from 0 to 2147483647. Defaults to the image's user.",
  }),
  runAsGroup: field(8, s.int64(), {
    zeroValue: 'keep',
    doc: "Group ID that runs the container, from 0 to 2147483647. Defaults to the runtime's group.",
  }),
  runAsNonRoot: field(5, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the node agent must refuse to run the container as root.',
  }),
  readOnlyRootFilesystem: field(6, s.boolean(), {
    zeroValue: 'keep',
    doc: "Whether the container's root file system is read-only. Defaults to false.",
  }),
  allowPrivilegeEscalation: field(7, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether a process can gain more privileges than its parent. False cannot be combined with privileged.',
  }),
  procMount: field(9, s.string(), {
    zeroValue: 'keep',
    doc: 'Type of the /proc mount: Default or Unmasked. Reset to Default if the feature gate ProcMountType is disabled.',
  }),
  seccompProfile: field(11, seccompProfile, { doc: 'Seccomp profile for the container: the allowed system calls.' }),
  appArmorProfile: field(12, appArmorProfile, {
    since: '1.30',
    gate: 'AppArmorFields',
    doc: "AppArmor profile for the container. Overrides the pod's profile.",
  }),
}

export type SecurityContext = InferFields<typeof containerFields>

export const securityContext = s.object(containerFields, {
  name: 'SecurityContext',
  doc: "Security settings for a container. They override the pod's settings.",
  check: (value, path) => [
    ...checkIds(value, ['runAsUser', 'runAsGroup'], path),
    ...checkEscalation(value, path),
    ...checkSupported(value.procMount, ['Default', 'Unmasked'], child(path, 'procMount')),
  ],
})

const podFields = {
  seLinuxOptions: field(1, seLinuxOptions, { doc: 'SELinux labels for all containers.' }),
  windowsOptions: field(8, windowsOptions, { doc: 'Windows settings for all containers.' }),
  runAsUser: field(2, s.int64(), {
    zeroValue: 'keep',
    doc: "User ID that runs the containers, from 0 to 2147483647. Defaults to the image's user.",
  }),
  runAsGroup: field(6, s.int64(), {
    zeroValue: 'keep',
    doc: "Group ID that runs the containers, from 0 to 2147483647. Defaults to the runtime's group.",
  }),
  runAsNonRoot: field(3, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the node agent must refuse to run the containers as root.',
  }),
  supplementalGroups: field(4, s.list(s.int64()), {
    emptyCounts: true,
    doc: 'Additional group IDs for the first process of each container, from 0 to 2147483647.',
  }),
  fsGroup: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: 'Group ID that owns the files in volumes that support ownership, from 0 to 2147483647.',
  }),
  sysctls: field(7, s.list(sysctl), { doc: "Kernel parameters in the pod's namespaces." }),
  fsGroupChangePolicy: field(9, s.oneOf('Always', 'OnRootMismatch'), {
    zeroValue: 'keep',
    doc: 'When to apply fsGroup to volumes: Always, or OnRootMismatch if the root differs. Unset means Always.',
  }),
  seccompProfile: field(10, seccompProfile, { doc: 'Seccomp profile for the containers: the allowed system calls.' }),
  appArmorProfile: field(11, appArmorProfile, {
    since: '1.30',
    gate: 'AppArmorFields',
    doc: 'AppArmor profile for the containers.',
  }),
  supplementalGroupsPolicy: field(12, s.string(), {
    zeroValue: 'keep',
    since: '1.31',
    gate: 'SupplementalGroupsPolicy',
    doc: "Supplemental groups policy: Merge (adds the image's groups, default) or Strict.",
  }),
  seLinuxChangePolicy: field(13, s.string(), {
    zeroValue: 'keep',
    since: '1.32',
    gate: 'SELinuxChangePolicy',
    doc: 'How volumes get their SELinux label: MountOption (default) or Recursive.',
  }),
}

export type PodSecurityContext = InferFields<typeof podFields>

const changePolicies = ['MountOption', 'Recursive']

export const podSecurityContext = s.object(podFields, {
  name: 'PodSecurityContext',
  doc: 'Security settings for all containers in a pod, and for its volumes.',
  check: (value, path, context) => [
    ...checkIds(value, ['fsGroup', 'runAsUser', 'runAsGroup'], path),
    ...(value.supplementalGroups ?? []).flatMap((id, i) => checkId(id, at(child(path, 'supplementalGroups'), i))),
    ...checkSysctls(value.sysctls ?? [], child(path, 'sysctls'), context),
    ...checkSupported(value.supplementalGroupsPolicy, ['Merge', 'Strict'], child(path, 'supplementalGroupsPolicy')),
    ...checkSupported(value.seLinuxChangePolicy, changePolicies, child(path, 'seLinuxChangePolicy')),
  ],
})

/** Rejects a new policy MountOption if volumes cannot be mounted with their SELinux label. */
export function checkSeLinuxChange(
  { securityContext }: { securityContext?: PodSecurityContext },
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  const policy = securityContext?.seLinuxChangePolicy
  if (policy !== 'MountOption' || isEnabled('SELinuxMount', context)) return []
  return [notSupported(child(path, 'securityContext.seLinuxChangePolicy'), policy, ['Recursive'])]
}

const largestId = 2 ** 31 - 1

function checkSupported(value: string | undefined, supported: readonly string[], path: FieldPath): FieldError[] {
  return value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)]
}

export function checkId(id: number, path: FieldPath): FieldError[] {
  return id >= 0 && id <= largestId ? [] : [invalid(path, id, `must be between 0 and ${largestId}, inclusive`)]
}

function checkIds<K extends string>(value: { [name in K]?: number }, names: readonly K[], path: FieldPath) {
  return names.flatMap((name) => (value[name] === undefined ? [] : checkId(value[name], child(path, name))))
}

function checkEscalation(context: SecurityContext, path: FieldPath): FieldError[] {
  if (context.allowPrivilegeEscalation !== false) return []
  const refuse = (what: string) =>
    invalid(path, { allowPrivilegeEscalation: false }, `cannot set \`allowPrivilegeEscalation\` to false and ${what}`)
  return [
    ...(context.privileged ? [refuse('`privileged` to true')] : []),
    ...(context.capabilities?.add?.includes('CAP_SYS_ADMIN') ? [refuse('add the capability CAP_SYS_ADMIN')] : []),
  ]
}

function checkSeccomp({ type, localhostProfile }: SeccompProfile, path: FieldPath): FieldError[] {
  const place = child(path, 'localhostProfile')
  if (type !== 'Localhost')
    return localhostProfile === undefined
      ? []
      : [invalid(place, localhostProfile, 'can only be set when seccomp type is Localhost')]
  if (localhostProfile === undefined) return [required(place, 'must be set when seccomp type is Localhost')]
  return checkDescendingPath(localhostProfile, place)
}

const maxCredentialLength = 64 * 1024

function checkWindows(options: InferFields<typeof windowsFields>, path: FieldPath): FieldError[] {
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName: user } = options
  return [
    ...(specName === undefined
      ? []
      : checkDnsSubdomain(specName).map((text) => invalid(child(path, 'gmsaCredentialSpecName'), specName, text))),
    ...(spec !== undefined && (spec === '' || Buffer.byteLength(spec) > maxCredentialLength)
      ? [invalid(child(path, 'gmsaCredentialSpec'), '', `must have from 1 to ${maxCredentialLength} bytes`)]
      : []),
    ...(user === undefined ? [] : checkWindowsUser(user, child(path, 'runAsUserName'))),
  ]
}

const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const domainPart = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/
const maxDomainLength = 255

function isWindowsDomain(name: string): boolean {
  if (name.length > maxDomainLength) return false
  return netBiosName.test(name) || name.split('.').every((part) => domainPart.test(part))
}

/** Accepts `DOMAIN\user` or `user`: a NetBIOS or DNS domain, and a user name of at most 104 characters. */
function checkWindowsUser(user: string, path: FieldPath): FieldError[] {
  const parts = user.split('\\')
  const name = parts.at(-1)!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const sound =
    parts.length <= 2 &&
    !/\p{Cc}/u.test(user) &&
    name.length >= 1 &&
    name.length <= 104 &&
    !/["/\\:;|=,+*?<>@[\]]/.test(name) &&
    !/^[. ]+$/.test(name) &&
    (domain === undefined || isWindowsDomain(domain))
  return sound ? [] : [invalid(path, user, 'must be a Windows user name, such as `user` or `DOMAIN\\user`')]
}
