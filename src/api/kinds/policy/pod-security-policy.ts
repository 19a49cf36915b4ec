/**
 * A PodSecurityPolicy defines the security settings that pods may request. The kind is deprecated, and only the
 * admission plugin of the same name uses it.
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
import type { RuleContext } from '../../schema/context.ts'
import { defineKind, type ObjectOf } from '../../schema/kind.ts'
import { field, type InferFields, s } from '../../schema/schema.ts'
import { isAppArmorProfile } from '../core/types/app-armor-annotations.ts'
import { checkSeccompProfile } from '../core/types/pod-annotations.ts'
import { repeatedAt } from '../core/types/repeated.ts'
import { seLinuxOptions } from '../core/types/security-context.ts'
import { checkDriverName } from '../core/types/volumes/storage-systems.ts'
import { idRule } from './types/id-rules.ts'
import { checkOverlap, checkSysctlPatterns } from './types/sysctl-patterns.ts'

const texts = s.list(s.string())

const hostPortRange = s.object(
  {
    min: field(1, s.int32(), { zeroValue: 'write', published: 'required', doc: 'First port of the range.' }),
    max: field(2, s.int32(), { zeroValue: 'write', published: 'required', doc: 'Last port of the range.' }),
  },
  { name: 'HostPortRange', doc: 'An inclusive range of host ports.' },
)

const seLinuxRules = ['MustRunAs', 'RunAsAny']

const seLinux = s.object(
  {
    rule: field(1, s.string(), {
      zeroValue: 'write',
      doc: 'Whether pods must use the given SELinux options (`MustRunAs`) or may use any (`RunAsAny`).',
    }),
    seLinuxOptions: field(2, seLinuxOptions, {
      doc: 'SELinux options that pods must use. Set if the rule is `MustRunAs`.',
    }),
  },
  {
    name: 'SELinuxStrategyOptions',
    doc: 'Restricts the SELinux options of pods.',
    check: ({ rule = '' }, path) =>
      seLinuxRules.includes(rule) ? [] : [notSupported(child(path, 'rule'), rule, seLinuxRules)],
  },
)

const groups = ['MayRunAs', 'MustRunAs', 'RunAsAny']

const runAsUser = idRule({
  name: 'RunAsUserStrategyOptions',
  doc: 'Restricts the user IDs of containers.',
  rules: ['MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'],
  written: true,
})
const runAsGroup = idRule({
  name: 'RunAsGroupStrategyOptions',
  doc: 'Restricts the primary group IDs of containers.',
  rules: groups,
  written: true,
  strict: true,
})
const supplementalGroups = idRule({
  name: 'SupplementalGroupsStrategyOptions',
  doc: 'Restricts the supplemental groups of pods.',
  rules: groups,
})
const fsGroup = idRule({
  name: 'FSGroupStrategyOptions',
  doc: 'Restricts the `fsGroup` of pods.',
  rules: groups,
})

const allowedHostPath = s.object(
  {
    pathPrefix: field(1, s.string(), { doc: 'Prefix of the allowed host paths.' }),
    readOnly: field(2, s.boolean(), { doc: 'Whether the host paths must be mounted read-only.' }),
  },
  { name: 'AllowedHostPath', doc: 'A prefix of the host paths that pods may mount.' },
)
const allowedFlexVolume = s.object(
  { driver: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the FlexVolume driver.' }) },
  {
    name: 'AllowedFlexVolume',
    doc: 'A FlexVolume driver that pods may use.',
    check: ({ driver = '' }, path) => (driver === '' ? [required(child(path, 'driver'), 'must specify a driver')] : []),
  },
)
const allowedCsiDriver = s.object(
  { name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the CSI driver.' }) },
  { name: 'AllowedCSIDriver', doc: 'A CSI driver that pods may use for inline volumes.' },
)

const runtimeClassFields = {
  allowedRuntimeClassNames: field(1, texts, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Names of the RuntimeClasses that pods may use. `*` allows all names and must be the only entry.',
  }),
  defaultRuntimeClassName: field(2, s.string(), {
    zeroValue: 'keep',
    doc: 'Name of the RuntimeClass for pods that do not specify one. Must be one of the allowed names.',
  }),
}

const runtimeClass = s.object(runtimeClassFields, {
  name: 'RuntimeClassStrategyOptions',
  doc: 'Restricts the RuntimeClasses of pods.',
  check: checkRuntimeClass,
})

/** Options for fields that are always encoded, even if empty, and that are published as required. */
const part = { zeroValue: 'write', published: 'required' } as const

const specFields = {
  privileged: field(1, s.boolean(), { doc: 'Whether containers may run in privileged mode.' }),
  defaultAddCapabilities: field(2, texts, { doc: 'Linux capabilities that are added to containers by default.' }),
  requiredDropCapabilities: field(3, texts, { doc: 'Linux capabilities that are always dropped from containers.' }),
  allowedCapabilities: field(4, texts, {
    doc: 'Linux capabilities that containers may request. `*` allows all capabilities.',
  }),
  volumes: field(5, texts, { doc: 'Volume types that pods may use. `*` allows all types.' }),
  hostNetwork: field(6, s.boolean(), { doc: 'Whether pods may use the host network.' }),
  hostPorts: field(7, s.list(hostPortRange), { doc: 'Ranges of host ports that pods may use.' }),
  hostPID: field(8, s.boolean(), { doc: 'Whether pods may share the process namespace of the host.' }),
  hostIPC: field(9, s.boolean(), { doc: 'Whether pods may share the IPC namespace of the host.' }),
  seLinux: field(10, seLinux, { ...part, doc: 'Restricts the SELinux options of pods.' }),
  runAsUser: field(11, runAsUser, { ...part, doc: 'Restricts the user IDs of containers.' }),
  runAsGroup: field(22, runAsGroup, {
    doc: 'Restricts the primary group IDs of containers. If unset, all groups are allowed.',
  }),
  supplementalGroups: field(12, supplementalGroups, {
    ...part,
    doc: 'Restricts the supplemental groups of pods.',
  }),
  fsGroup: field(13, fsGroup, { ...part, doc: 'Restricts the `fsGroup` of pods.' }),
  readOnlyRootFilesystem: field(14, s.boolean(), {
    doc: 'Whether containers must run with a read-only root filesystem.',
  }),
  defaultAllowPrivilegeEscalation: field(15, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Value of `allowPrivilegeEscalation` for containers that do not set it.',
  }),
  allowPrivilegeEscalation: field(16, s.boolean(), {
    zeroValue: 'keep',
    default: true,
    doc: 'Whether containers may allow privilege escalation. Defaults to true.',
  }),
  allowedHostPaths: field(17, s.list(allowedHostPath), {
    doc: 'Host paths that pods may mount. If empty, all host paths are allowed.',
  }),
  allowedFlexVolumes: field(18, s.list(allowedFlexVolume), {
    doc: 'FlexVolume drivers that pods may use. If empty, all drivers are allowed.',
  }),
  allowedCSIDrivers: field(23, s.list(allowedCsiDriver), {
    doc: 'CSI drivers that pods may use for inline volumes. If empty, all drivers are allowed.',
  }),
  allowedUnsafeSysctls: field(19, texts, {
    doc: 'Unsafe sysctls that pods may set, as names or as prefixes followed by `*`.',
  }),
  forbiddenSysctls: field(20, texts, {
    doc: 'Sysctls that pods must not set, as names or as prefixes followed by `*`.',
  }),
  allowedProcMountTypes: field(21, texts, {
    doc: 'Types of `/proc` mounts that containers may use. Not supported: the server drops this field.',
  }),
  runtimeClass: field(24, runtimeClass, {
    doc: 'Restricts the RuntimeClasses of pods. If unset, all RuntimeClasses are allowed.',
  }),
}

const spec = s.object(specFields, {
  name: 'PodSecurityPolicySpec',
  doc: 'Specification of a PodSecurityPolicy: the security settings that pods may request.',
  check: checkSpec,
})

const fields = { spec: field(2, spec, { zeroValue: 'write', doc: 'Security settings that pods may request.' }) }

export type PodSecurityPolicy = ObjectOf<typeof fields>
type Spec = InferFields<typeof specFields>

const specColumn = (name: string, doc: string, of: (spec: Spec) => Json) =>
  column(name, doc, ({ spec = {} }: PodSecurityPolicy) => of(spec))

export const podSecurityPolicy = defineKind({
  names: {
    group: 'policy',
    version: 'v1beta1',
    kind: 'PodSecurityPolicy',
    plural: 'podsecuritypolicies',
    shortNames: ['psp'],
    scope: 'Cluster',
    faultGroup: { name: 'extensions', until: '1.29' },
  },
  doc: 'Security settings that pods may request. Deprecated.',
  fields,
  rules: {
    prepareForCreate: ({ spec = {} }) => dropUnoffered(spec),
    prepareForUpdate: ({ spec = {} }) => dropUnoffered(spec),
    validate: ({ metadata }, { vendor }) => checkProfiles(metadata.annotations ?? {}, vendor),
  },
  lifecycle: { deleteAnswers: 'object' },
  views: {
    columns: [
      nameColumn,
      specColumn('Priv', 'Whether containers may run in privileged mode.', ({ privileged = false }) =>
        String(privileged),
      ),
      specColumn('Caps', 'Linux capabilities that containers may request.', ({ allowedCapabilities: all = [] }) =>
        all.join(','),
      ),
      specColumn(
        'SELinux',
        'How the SELinux options of pods are restricted.',
        ({ seLinux: { rule = '' } = {} }) => rule,
      ),
      specColumn(
        'RunAsUser',
        'How the user IDs of containers are restricted.',
        ({ runAsUser: { rule = '' } = {} }) => rule,
      ),
      specColumn('FsGroup', 'How the `fsGroup` of pods is restricted.', ({ fsGroup: { rule = '' } = {} }) => rule),
      specColumn(
        'SupGroup',
        'How the supplemental groups of pods are restricted.',
        ({ supplementalGroups: { rule = '' } = {} }) => rule,
      ),
      specColumn(
        'ReadOnlyRootFs',
        'Whether containers must run with a read-only root filesystem.',
        ({ readOnlyRootFilesystem = false }) => readOnlyRootFilesystem,
      ),
      specColumn('Volumes', 'Volume types that pods may use.', ({ volumes = [] }) => volumes.join(',')),
    ],
  },
  until: '1.25',
  deprecated: { since: '1.21' },
})

/**
 * Drops unsupported fields without a warning, as kube-apiserver does. Every write already returns the warning that the
 * kind is deprecated.
 */
function dropUnoffered(spec: Spec): void {
  delete spec.allowedProcMountTypes
}

function checkSpec(value: Spec, path: FieldPath, context: RuleContext): FieldError[] {
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
      checkDriverName(name, child(at(child(path, 'allowedCSIDrivers.allowedCSIDriver'), i), 'name'), context),
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

/** Validates the capabilities. Error paths omit `spec` because clients expect such paths. */
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
  return [invalid(path, true, 'cannot be true unless allowPrivilegeEscalation is also true')]
}

/** Validates the paths. The check stops at the first path without a prefix. */
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

/** Validates the AppArmor and seccomp profiles in annotations: the default profile and the allowed profiles. */
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
