/** Security contexts: with which rights a pod and its containers run. */
import { at, child, duplicate, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkDescendingPath } from './file-paths.ts'
import { repeatedAt } from './repeated.ts'

const capabilities = s.object(
  {
    add: field(1, s.list(s.string()), { doc: 'Capabilities that are added.' }),
    drop: field(2, s.list(s.string()), { doc: 'Rights that are taken away.' }),
  },
  { name: 'Capabilities', doc: 'Kernel capabilities that are added to the default ones, and those that are dropped.' },
)

export const seLinuxOptions = s.object(
  {
    user: field(1, s.string(), { doc: 'The SELinux user.' }),
    role: field(2, s.string(), { doc: 'The SELinux role.' }),
    type: field(3, s.string(), { doc: 'The SELinux type.' }),
    level: field(4, s.string(), { doc: 'The SELinux level.' }),
  },
  { name: 'core.v1.SELinuxOptions', doc: 'The labels that SELinux knows a container by.' },
)

const windowsFields = {
  gmsaCredentialSpecName: field(1, s.string(), { zero: 'keep', doc: 'The name of the GMSA credential specification.' }),
  gmsaCredentialSpec: field(2, s.string(), { zero: 'keep', doc: 'The GMSA credential specification itself.' }),
  runAsUserName: field(3, s.string(), { zero: 'keep', doc: 'The Windows user that runs it.' }),
  hostProcess: field(4, s.boolean(), {
    zero: 'keep',
    doc: 'Whether it is a process of the host; all containers of the pod, or none.',
  }),
}

const windowsOptions = s.object(windowsFields, {
  name: 'WindowsSecurityContextOptions',
  doc: 'Settings for Windows alone.',
  check: checkWindows,
})

const seccompFields = {
  type: field(1, s.oneOf('Localhost', 'RuntimeDefault', 'Unconfined'), {
    zero: 'write',
    required: true,
    doc: 'Localhost for a profile on the node, RuntimeDefault for that of the runtime, Unconfined for none.',
  }),
  localhostProfile: field(2, s.string(), {
    zero: 'keep',
    doc: 'The file of the profile on the node; with Localhost alone.',
  }),
}

export type SeccompProfile = InferFields<typeof seccompFields>

const seccompProfile = s.object(seccompFields, {
  name: 'SeccompProfile',
  doc: 'Which calls into the kernel are let through.',
  check: checkSeccomp,
})

const containerFields = {
  capabilities: field(1, capabilities, { doc: 'Kernel capabilities to add or drop.' }),
  privileged: field(2, s.boolean(), { zero: 'keep', doc: 'Whether it may do all that root of the node may do.' }),
  seLinuxOptions: field(3, seLinuxOptions, { doc: 'Its SELinux labels.' }),
  windowsOptions: field(10, windowsOptions, { doc: 'Settings for Windows.' }),
  runAsUser: field(4, s.int64(), { zero: 'keep', doc: 'The user id that runs it; that of the image if unset.' }),
  runAsGroup: field(8, s.int64(), { zero: 'keep', doc: 'The group id that runs it; that of the runtime if unset.' }),
  runAsNonRoot: field(5, s.boolean(), { zero: 'keep', doc: 'Whether it is refused to run as root.' }),
  readOnlyRootFilesystem: field(6, s.boolean(), {
    zero: 'keep',
    doc: 'Whether its root file system can only be read.',
  }),
  allowPrivilegeEscalation: field(7, s.boolean(), {
    zero: 'keep',
    doc: 'Whether a process may get more rights than its parent.',
  }),
  procMount: field(9, s.string(), { zero: 'keep', doc: 'How /proc is mounted: Default or Unmasked.' }),
  seccompProfile: field(11, seccompProfile, { doc: 'Which calls into the kernel are let through.' }),
}

export type SecurityContext = InferFields<typeof containerFields>

export const securityContext = s.object(containerFields, {
  name: 'SecurityContext',
  doc: 'With which rights a container runs; what it says wins over what its pod says.',
  check: (value, path) => [...checkIds(value, ['runAsUser', 'runAsGroup'], path), ...checkEscalation(value, path)],
})

const sysctlFields = {
  name: field(1, s.string(), { zero: 'write', required: true, doc: 'The name of the parameter.' }),
  value: field(2, s.string(), { zero: 'write', doc: 'Its value.' }),
}

const sysctl = s.object(sysctlFields, {
  name: 'Sysctl',
  doc: 'A parameter of the kernel.',
  check: ({ name = '' }, path) => (name === '' ? [] : checkSysctlName(name, child(path, 'name'))),
})

const podFields = {
  seLinuxOptions: field(1, seLinuxOptions, { doc: 'The SELinux labels of all containers.' }),
  windowsOptions: field(8, windowsOptions, { doc: 'Settings for Windows.' }),
  runAsUser: field(2, s.int64(), { zero: 'keep', doc: 'The user id that runs them; that of the image if unset.' }),
  runAsGroup: field(6, s.int64(), { zero: 'keep', doc: 'The group id that runs them; that of the runtime if unset.' }),
  runAsNonRoot: field(3, s.boolean(), { zero: 'keep', doc: 'Whether they are refused to run as root.' }),
  supplementalGroups: field(4, s.list(s.int64()), {
    emptyCounts: true,
    doc: 'Further groups of their first processes.',
  }),
  fsGroup: field(5, s.int64(), { zero: 'keep', doc: 'The group that owns the volumes, where they allow it.' }),
  sysctls: field(7, s.list(sysctl), { doc: 'Parameters of the kernel for the pod alone.' }),
  fsGroupChangePolicy: field(9, s.oneOf('Always', 'OnRootMismatch'), {
    zero: 'keep',
    doc: "When fsGroup becomes the owner of files: Always, or OnRootMismatch if the volume's root has another owner.",
  }),
  seccompProfile: field(10, seccompProfile, { doc: 'Which calls into the kernel are let through.' }),
}

export type PodSecurityContext = InferFields<typeof podFields>

export const podSecurityContext = s.object(podFields, {
  name: 'PodSecurityContext',
  doc: "The privileges of a pod's containers, and the owner of its volumes.",
  check: (value, path) => [
    ...checkIds(value, ['fsGroup', 'runAsUser', 'runAsGroup'], path),
    ...(value.supplementalGroups ?? []).flatMap((id, i) => checkId(id, at(child(path, 'supplementalGroups'), i))),
    ...checkRepeatedSysctls(value, child(path, 'sysctls')),
  ],
})

const largestId = 2 ** 31 - 1

function checkId(id: number, path: FieldPath): FieldError[] {
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

const sysctlPart = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/

function checkSysctlName(name: string, path: FieldPath): FieldError[] {
  const sound = name.length <= 253 && name.split('.').every((part) => sysctlPart.test(part))
  return sound
    ? []
    : [invalid(path, name, "must be parts of lower case letters, digits, '-' and '_', with dots between")]
}

function checkRepeatedSysctls({ sysctls = [] }: PodSecurityContext, path: FieldPath): FieldError[] {
  const sound = sysctls.map(({ name = '' }) => (checkSysctlName(name, '').length === 0 ? name : undefined))
  return [...repeatedAt(sound)].map((i) => duplicate(child(at(path, i), 'name'), sound[i]!))
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

/** `DOMAIN\user` or `user`: a domain of NetBIOS or DNS, a user of at most 104 characters. */
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
  return sound ? [] : [invalid(path, user, 'must be a user of Windows, as in `user` or `DOMAIN\\user`')]
}
