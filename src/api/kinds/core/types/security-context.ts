/** Security contexts, which define the privileges of a pod and its containers. */
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
  {
    name: 'Capabilities',
    doc: "Linux capabilities to add to the container runtime's default set, or to drop from it.",
  },
)

export const seLinuxOptions = s.object(
  {
    user: field(1, s.string(), { doc: 'SELinux user.' }),
    role: field(2, s.string(), { doc: 'SELinux role.' }),
    type: field(3, s.string(), { doc: 'SELinux type.' }),
    level: field(4, s.string(), { doc: 'SELinux level.' }),
  },
  { name: 'core.v1.SELinuxOptions', doc: 'The SELinux context of a container.' },
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
    doc: 'Whether the container runs as a host process. All containers in a pod must have the same setting.',
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
    doc: "Which profile to apply: `Localhost` (a file on the node), `RuntimeDefault` (the container runtime's profile) or `Unconfined` (none).",
  }),
  localhostProfile: field(2, s.string(), {
    zeroValue: 'keep',
    doc: "Path of the profile on the node, relative to the node agent's seccomp directory. Required if the type is `Localhost`, and forbidden otherwise.",
  }),
}

export type SeccompProfile = InferFields<typeof seccompFields>

const seccompProfile = s.object(seccompFields, {
  name: 'SeccompProfile',
  doc: 'A seccomp profile, which determines the allowed system calls.',
  check: checkSeccomp,
})

const containerFields = {
  capabilities: field(1, capabilities, { doc: 'Linux capabilities to add or drop.' }),
  privileged: field(2, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the container runs in privileged mode, which gives it root access to the node. Defaults to false.',
  }),
  seLinuxOptions: field(3, seLinuxOptions, { doc: 'SELinux context of the container.' }),
  windowsOptions: field(10, windowsOptions, { doc: 'Windows-specific security settings for the container.' }),
  runAsUser: field(4, s.int64(), {
    zeroValue: 'keep',
    doc: "User ID that the container runs as, from 0 to 2147483647. Defaults to the image's user.",
  }),
  runAsGroup: field(8, s.int64(), {
    zeroValue: 'keep',
    doc: "Group ID with which the container runs, from 0 to 2147483647. Defaults to the container runtime's choice.",
  }),
  runAsNonRoot: field(5, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the node agent must refuse to start the container if it would run as root.',
  }),
  readOnlyRootFilesystem: field(6, s.boolean(), {
    zeroValue: 'keep',
    doc: "Whether the container's root file system is read-only. Defaults to false.",
  }),
  allowPrivilegeEscalation: field(7, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether a process can gain more privileges than its parent process. Must not be false if `privileged` is true.',
  }),
  procMount: field(9, s.string(), {
    zeroValue: 'keep',
    doc: 'How `/proc` is mounted: `Default` or `Unmasked`. Reset to `Default` if the ProcMountType feature gate is disabled.',
  }),
  seccompProfile: field(11, seccompProfile, {
    doc: 'Seccomp profile for the container, which determines the allowed system calls.',
  }),
  appArmorProfile: field(12, appArmorProfile, {
    since: '1.30',
    gate: 'AppArmorFields',
    doc: "AppArmor profile for the container. It overrides the pod's profile.",
  }),
}

export type SecurityContext = InferFields<typeof containerFields>

export const securityContext = s.object(containerFields, {
  name: 'SecurityContext',
  doc: "Security settings for a container. They override the pod's security settings.",
  check: (value, path) => [
    ...checkIds(value, ['runAsUser', 'runAsGroup'], path),
    ...checkEscalation(value, path),
    ...checkSupported(value.procMount, ['Default', 'Unmasked'], child(path, 'procMount')),
  ],
})

const podFields = {
  seLinuxOptions: field(1, seLinuxOptions, { doc: 'SELinux context of all containers.' }),
  windowsOptions: field(8, windowsOptions, { doc: 'Windows-specific security settings for all containers.' }),
  runAsUser: field(2, s.int64(), {
    zeroValue: 'keep',
    doc: "User ID with which the containers run, from 0 to 2147483647. Defaults to the image's user.",
  }),
  runAsGroup: field(6, s.int64(), {
    zeroValue: 'keep',
    doc: "Group ID with which the containers run, from 0 to 2147483647. Defaults to the container runtime's choice.",
  }),
  runAsNonRoot: field(3, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether the node agent must refuse to start containers that would run as root.',
  }),
  supplementalGroups: field(4, s.list(s.int64()), {
    emptyCounts: true,
    doc: 'Additional group IDs for the first process of each container. Each ID must be from 0 to 2147483647.',
  }),
  fsGroup: field(5, s.int64(), {
    zeroValue: 'keep',
    doc: "ID of the group that owns the files in the pod's volumes, from 0 to 2147483647. Applies only to volumes that support ownership management.",
  }),
  sysctls: field(7, s.list(sysctl), { doc: 'Namespaced kernel parameters (sysctls) to set for the pod.' }),
  fsGroupChangePolicy: field(9, s.oneOf('Always', 'OnRootMismatch'), {
    zeroValue: 'keep',
    doc: 'When to change the ownership of volumes to `fsGroup`: `Always`, or only if the root directory has a different owner (`OnRootMismatch`). Defaults to `Always`.',
  }),
  seccompProfile: field(10, seccompProfile, {
    doc: 'Seccomp profile for the containers, which determines the allowed system calls.',
  }),
  appArmorProfile: field(11, appArmorProfile, {
    since: '1.30',
    gate: 'AppArmorFields',
    doc: 'AppArmor profile for the containers.',
  }),
  supplementalGroupsPolicy: field(12, s.string(), {
    zeroValue: 'keep',
    since: '1.31',
    gate: 'SupplementalGroupsPolicy',
    doc: "Whether to add the groups that the image defines (`Merge`, the default) or to use only the pod's groups (`Strict`).",
  }),
  seLinuxChangePolicy: field(13, s.string(), {
    zeroValue: 'keep',
    since: '1.32',
    gate: 'SELinuxChangePolicy',
    doc: 'How volumes get their SELinux label: through a mount option (`MountOption`, the default) or by relabeling every file (`Recursive`).',
  }),
}

export type PodSecurityContext = InferFields<typeof podFields>

const changePolicies = ['MountOption', 'Recursive']

export const podSecurityContext = s.object(podFields, {
  name: 'PodSecurityContext',
  doc: "Security settings for a pod's volumes and for all its containers.",
  check: (value, path, context) => [
    ...checkIds(value, ['fsGroup', 'runAsUser', 'runAsGroup'], path),
    ...(value.supplementalGroups ?? []).flatMap((id, i) => checkId(id, at(child(path, 'supplementalGroups'), i))),
    ...checkSysctls(value.sysctls ?? [], child(path, 'sysctls'), context),
    ...checkSupported(value.supplementalGroupsPolicy, ['Merge', 'Strict'], child(path, 'supplementalGroupsPolicy')),
    ...checkSupported(value.seLinuxChangePolicy, changePolicies, child(path, 'seLinuxChangePolicy')),
  ],
})

/** Rejects a new `MountOption` policy if volumes cannot be mounted with their SELinux label. */
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

/**
 * Validates a Windows user name: `DOMAIN\user` or `user`, with a NetBIOS or DNS domain and at most 104 characters for
 * the user.
 */
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
