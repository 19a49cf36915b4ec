/**
 * PodSecurityPolicy: what pods may request. It is deprecated, and only the admission control of its name reads it.
 */

import type { Json } from '../../json/json.ts'
import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../model/field-error.ts'
import { checkDnsSubdomain } from '../../model/names.ts'
import { type Vendor, vendorKey } from '../../model/vendor.ts'
import { column, nameColumn } from '../../schema/columns.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { checkSeccompProfile, isAppArmorProfile } from '../core/types/pod-annotations.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { seLinuxOptions } from '../core/types/security-context.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { idRule } from './types/id-rules.ts'
import { checkOverlap, checkSysctlPatterns } from './types/sysctl-patterns.ts'

const texts = s.list(s.string())

const hostPortRange = s.object(
  {
    min: field(1, s.int32(), { zero: 'write', published: 'required', doc: 'The first port.' }),
    max: field(2, s.int32(), { zero: 'write', published: 'required', doc: 'The last port.' }),
  },
  { name: 'HostPortRange', doc: 'Ports from one to another.' },
)

const seLinuxRules = ['MustRunAs', 'RunAsAny']

const seLinux = s.object(
  {
    rule: field(1, s.string(), { zero: 'write', doc: 'One of MustRunAs, RunAsAny.' }),
    seLinuxOptions: field(2, seLinuxOptions, { doc: 'The labels that must be used.' }),
  },
  {
    name: 'SELinuxStrategyOptions',
    doc: 'Which SELinux labels pods may have.',
    check: ({ rule = '' }, path) =>
      seLinuxRules.includes(rule) ? [] : [notSupported(child(path, 'rule'), rule, seLinuxRules)],
  },
)

const groups = ['MayRunAs', 'MustRunAs', 'RunAsAny']

const runAsUser = idRule({
  name: 'RunAsUserStrategyOptions',
  doc: 'Which users pods may run as.',
  rules: ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'],
  written: true,
})
const runAsGroup = idRule({
  name: 'RunAsGroupStrategyOptions',
  doc: 'Which groups pods may run as.',
  rules: groups,
  written: true,
  strict: true,
})
const supplementalGroups = idRule({
  name: 'SupplementalGroupsStrategyOptions',
  doc: 'Which further groups pods may have.',
  rules: groups,
})
const fsGroup = idRule({
  name: 'FSGroupStrategyOptions',
  doc: 'The groups that may own the files of volumes.',
  rules: groups,
})

const allowedHostPath = s.object(
  {
    pathPrefix: field(1, s.string(), { doc: 'What paths must begin with.' }),
    readOnly: field(2, s.boolean(), { doc: 'Whether they can only be mounted to be read.' }),
  },
  { name: 'AllowedHostPath', doc: 'Paths of the host that may be mounted.' },
)
const allowedFlexVolume = s.object(
  { driver: field(1, s.string(), { zero: 'write', doc: 'The name of the driver.' }) },
  {
    name: 'AllowedFlexVolume',
    doc: 'A driver of flexVolume that may be used.',
    check: ({ driver = '' }, path) => (driver === '' ? [required(child(path, 'driver'), 'must specify a driver')] : []),
  },
)
const allowedCsiDriver = s.object(
  { name: field(1, s.string(), { zero: 'write', doc: 'The name of the driver.' }) },
  { name: 'AllowedCSIDriver', doc: 'A CSI driver that may be used in line.' },
)

const runtimeClassFields = {
  allowedRuntimeClassNames: field(1, texts, {
    zero: 'write',
    published: 'required',
    doc: 'The RuntimeClasses that may be named; * for all.',
  }),
  defaultRuntimeClassName: field(2, s.string(), { zero: 'keep', doc: 'The one of pods that name none.' }),
}

const runtimeClass = s.object(runtimeClassFields, {
  name: 'RuntimeClassStrategyOptions',
  doc: 'Which RuntimeClasses pods may have.',
  check: checkRuntimeClass,
})

/** Parts that are always written, and that are published as required. */
const part = { zero: 'write', published: 'required' } as const

const specFields = {
  privileged: field(1, s.boolean(), { doc: 'Whether pods may be privileged.' }),
  defaultAddCapabilities: field(2, texts, { doc: 'Rights of the kernel that containers get unasked.' }),
  requiredDropCapabilities: field(3, texts, { doc: 'Rights of the kernel that are taken from containers.' }),
  allowedCapabilities: field(4, texts, { doc: 'Kernel capabilities that containers may request; * for all.' }),
  volumes: field(5, texts, { doc: 'The kinds of volumes that may be used; * for all.' }),
  hostNetwork: field(6, s.boolean(), { doc: 'Whether pods may use the network of the host.' }),
  hostPorts: field(7, s.list(hostPortRange), { doc: 'The ports of the host that may be used.' }),
  hostPID: field(8, s.boolean(), { doc: 'Whether pods may see the processes of the host.' }),
  hostIPC: field(9, s.boolean(), { doc: 'Whether pods may share the memory segments of the host.' }),
  seLinux: field(10, seLinux, { ...part, doc: 'Which SELinux labels pods may have.' }),
  runAsUser: field(11, runAsUser, { ...part, doc: 'Which users pods may run as.' }),
  runAsGroup: field(22, runAsGroup, { doc: 'Which groups pods may run as; any if unset.' }),
  supplementalGroups: field(12, supplementalGroups, { ...part, doc: 'Which further groups pods may have.' }),
  fsGroup: field(13, fsGroup, { ...part, doc: 'The groups that may own the files of volumes.' }),
  readOnlyRootFilesystem: field(14, s.boolean(), {
    doc: 'Whether containers must have a root that cannot be written.',
  }),
  defaultAllowPrivilegeEscalation: field(15, s.boolean(), {
    zero: 'keep',
    doc: 'Whether processes may gain rights in pods that do not say.',
  }),
  allowPrivilegeEscalation: field(16, s.boolean(), {
    zero: 'keep',
    default: true,
    doc: 'Whether pods may request that processes can gain privileges; true by default.',
  }),
  allowedHostPaths: field(17, s.list(allowedHostPath), { doc: 'Paths of the host that may be mounted; all if unset.' }),
  allowedFlexVolumes: field(18, s.list(allowedFlexVolume), { doc: 'Drivers of flexVolume that may be used.' }),
  allowedCSIDrivers: field(23, s.list(allowedCsiDriver), { doc: 'CSI drivers that may be used in line.' }),
  allowedUnsafeSysctls: field(19, texts, { doc: 'Unsafe kernel parameters that may be set, as patterns.' }),
  forbiddenSysctls: field(20, texts, { doc: 'Kernel parameters that may not be set, as patterns.' }),
  allowedProcMountTypes: field(21, texts, { doc: 'How /proc may be mounted. Not offered yet: it is left out.' }),
  runtimeClass: field(24, runtimeClass, { doc: 'Which RuntimeClasses pods may have; any if unset.' }),
}

const spec = s.object(specFields, {
  name: 'PodSecurityPolicySpec',
  doc: 'What pods may request.',
  check: checkSpec,
})

const fields = { spec: field(2, spec, { zero: 'write', doc: 'What pods may request.' }) }

export type PodSecurityPolicy = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>

const shown = (name: string, doc: string, of: (spec: Spec) => Json) =>
  column(name, doc, ({ spec = {} }: PodSecurityPolicy) => of(spec))

export const podSecurityPolicy = defineKind({
  names: {
    group: 'policy',
    version: 'v1beta1',
    kind: 'PodSecurityPolicy',
    plural: 'podsecuritypolicies',
    shortNames: ['psp'],
    scope: 'Cluster',
    faultGroup: 'extensions',
  },
  doc: 'What pods may request. Deprecated.',
  fields,
  rules: {
    prepareForCreate: ({ spec = {} }) => dropUnoffered(spec),
    prepareForUpdate: ({ spec = {} }) => dropUnoffered(spec),
    validate: ({ metadata }, { vendor }) => checkProfiles(metadata.annotations ?? {}, vendor),
  },
  life: { deleteAnswers: 'object' },
  views: {
    columns: [
      nameColumn,
      shown('Priv', 'Whether pods may be privileged.', ({ privileged = false }) => String(privileged)),
      shown('Caps', 'Rights of the kernel that may be asked for.', ({ allowedCapabilities: all = [] }) =>
        all.join(','),
      ),
      shown('SELinux', 'Which SELinux labels pods may have.', ({ seLinux: { rule = '' } = {} }) => rule),
      shown('RunAsUser', 'Which users pods may run as.', ({ runAsUser: { rule = '' } = {} }) => rule),
      shown('FsGroup', 'Which groups files may be given to.', ({ fsGroup: { rule = '' } = {} }) => rule),
      shown('SupGroup', 'Which further groups pods may have.', ({ supplementalGroups: { rule = '' } = {} }) => rule),
      shown(
        'ReadOnlyRootFs',
        'Whether the root cannot be written.',
        ({ readOnlyRootFilesystem = false }) => readOnlyRootFilesystem,
      ),
      shown('Volumes', 'The kinds of volumes that may be used.', ({ volumes = [] }) => volumes.join(',')),
    ],
  },
  deprecated: { since: 'v1.21', until: 'v1.25' },
})

/** Without a warning, as recorded: the kind itself is deprecated, and every write of it warns of that. */
function dropUnoffered(spec: Spec): void {
  delete spec.allowedProcMountTypes
}

function checkSpec(value: Spec, path: FieldPath): FieldError[] {
  const { volumes = [], allowedHostPaths = [], allowedCSIDrivers: drivers = [] } = value
  const { allowedUnsafeSysctls: allowed = [], forbiddenSysctls: banned = [] } = value
  const paths = { allowed: child(path, 'allowedUnsafeSysctls'), banned: child(path, 'forbiddenSysctls') }
  return [
    ...volumes
      .filter((name) => !volumeKinds.has(name))
      .map((name) => notSupported(child(path, 'volumes'), name, [...volumeKinds])),
    ...checkCapabilities(value),
    ...checkEscalation(value, child(path, 'defaultAllowPrivilegeEscalation')),
    ...checkHostPaths(allowedHostPaths, child(path, 'allowedHostPaths')),
    ...drivers.flatMap(({ name = '' }, i) =>
      checkDriverName(name, child(at(child(path, 'allowedCSIDrivers.allowedCSIDriver'), i), 'name')),
    ),
    ...checkSysctlPatterns(allowed, paths.allowed),
    ...checkSysctlPatterns(banned, paths.banned),
    ...checkOverlap(allowed, banned, paths),
  ]
}

const volumeKinds = new Set(
  `* awsElasticBlockStore azureDisk azureFile cephFS cinder configMap csi downwardAPI emptyDir ephemeral fc flexVolume
  flocker gcePersistentDisk gitRepo glusterfs hostPath iscsi nfs persistentVolumeClaim photonPersistentDisk
  portworxVolume projected quobyte rbd scaleIO secret storageos vsphereVolume`.split(/\s+/),
)

/** Faults leave out `spec`, as clients are used to. */
function checkCapabilities(value: Spec): FieldError[] {
  const dropped = new Set(value.requiredDropCapabilities)
  const all = value.allowedCapabilities?.includes('*') && dropped.size > 0
  const twice = (['defaultAddCapabilities', 'allowedCapabilities'] as const).flatMap((list) =>
    (value[list] ?? [])
      .filter((name) => dropped.has(name))
      .map((name) => invalid(list, name, `capability is listed in ${list} and requiredDropCapabilities`)),
  )
  const why = 'must be empty when all capabilities are allowed by a wildcard'
  return [...(all ? [invalid('requiredDropCapabilities', [...dropped], why)] : []), ...twice]
}

function checkEscalation(
  { defaultAllowPrivilegeEscalation: preset, allowPrivilegeEscalation: may }: Spec,
  path: FieldPath,
) {
  if (!preset || may) return []
  return [invalid(path, true, 'cannot be true unless allowPrivilegeEscalation is')]
}

/** After one without a prefix none is judged. */
function checkHostPaths(paths: NonNullable<Spec['allowedHostPaths']>, path: FieldPath): FieldError[] {
  const prefixes = paths.map(({ pathPrefix = '' }) => pathPrefix)
  const missing = prefixes.indexOf('')
  const judged = missing < 0 ? prefixes : prefixes.slice(0, missing)
  return [
    ...judged.flatMap((prefix, i) =>
      prefix.split('/').includes('..') ? [invalid(at(path, i), prefix, "must not contain '..'")] : [],
    ),
    ...(missing < 0 ? [] : [required(at(path, missing), 'is required')]),
  ]
}

function checkRuntimeClass(value: InferFields<typeof runtimeClassFields>, path: FieldPath): FieldError[] {
  const { allowedRuntimeClassNames: names = [], defaultRuntimeClassName: preset } = value
  const place = child(path, 'allowedRuntimeClassNames')
  const check = (name: string, where: FieldPath) => checkDnsSubdomain(name).map((text) => invalid(where, name, text))
  const allowed = new Set(names)
  return [
    ...names.flatMap((name, i) => (name === '*' ? [] : check(name, at(place, i)))),
    ...[...repeatedAt(names)].map((i) => duplicate(at(place, i), names[i]!)),
    ...(preset === undefined ? [] : check(preset, child(path, 'defaultRuntimeClassName'))),
    ...(preset === undefined || allowed.has(preset) || allowed.has('*')
      ? []
      : [required(place, `default "${preset}" must be allowed`)]),
    ...(allowed.has('*') && names.length > 1
      ? [invalid(place, names, "if '*' is present, must not specify other RuntimeClass names")]
      : []),
  ]
}

/** Profiles of AppArmor and seccomp are named in annotations: one that is the default, and those that are allowed. */
function checkProfiles(annotations: { readonly [key: string]: string }, vendor: Vendor): FieldError[] {
  const check = (system: 'apparmor.security.beta' | 'seccomp.security.alpha', which: string) => {
    const key = vendorKey(vendor, which, system)
    const text = annotations[key] ?? ''
    const profiles = text === '' ? [] : which === 'allowedProfileNames' ? text.split(',') : [text]
    return profiles.flatMap((profile) => checkProfile(profile, at('metadata.annotations', key), system))
  }
  return (['apparmor.security.beta', 'seccomp.security.alpha'] as const).flatMap((system) =>
    ['defaultProfileName', 'allowedProfileNames'].flatMap((which) => check(system, which)),
  )
}

function checkProfile(profile: string, path: FieldPath, system: string): FieldError[] {
  if (system.startsWith('seccomp')) return profile === '*' ? [] : checkSeccompProfile(profile, path)
  return isAppArmorProfile(profile) ? [] : [invalid(path, profile, 'invalid AppArmor profile name')]
}
