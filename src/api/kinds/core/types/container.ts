/**
 * Container and EphemeralContainer: an image with its ports, environment, resources, mounts and probes. Rules that
 * depend on the rest of the pod (its volumes and other containers) are in pod-containers.ts.
 */

import {
  at,
  child,
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkDnsLabel, checkPortName } from '../../../model/names.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { byName, mergedBy } from '../../list-keys.ts'
import { resizePolicy, restartRule } from './container-restarts.ts'
import { checkEnvFrom, envFromSource, envVar } from './environment.ts'
import { checkDescendingPath } from './file-paths.ts'
import { checkNoGracePeriod, checkOneSuccess, checkPortNumber, lifecycle, probe, readinessProbe } from './handlers.ts'
import { tagOf } from './image.ts'
import { repeatedAt } from './repeated.ts'
import { checkContainerResources, resourceRequirements } from './resources.ts'
import { securityContext } from './security-context.ts'

const portFields = {
  name: field(1, s.string(), { doc: 'Name of the port, to which Services and probes can refer.' }),
  hostPort: field(2, s.int32(), {
    doc: 'Port on the node that forwards to the container port, from 1 to 65535. Unset exposes no node port.',
  }),
  containerPort: field(3, s.int32(), { zeroValue: 'write', doc: 'Port number in the container, from 1 to 65535.' }),
  protocol: field(4, s.oneOf('SCTP', 'TCP', 'UDP'), {
    default: 'TCP',
    doc: 'Transport protocol: TCP, UDP or SCTP. Defaults to TCP.',
  }),
  hostIP: field(5, s.string(), { doc: 'Node IP address to bind hostPort to. Unset binds all addresses.' }),
}

export type ContainerPort = InferFields<typeof portFields>

const containerPort = s.object(portFields, {
  name: 'ContainerPort',
  doc: 'A container port.',
  check: checkPort,
})

const mountFields = {
  name: field(1, s.string(), { zeroValue: 'write', required: true, doc: 'Name of a volume in the pod.' }),
  readOnly: field(2, s.boolean(), {
    doc: 'Whether the volume is mounted read-only in this container. Defaults to false.',
  }),
  mountPath: field(3, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Path in the container at which the volume is mounted. Must not contain a colon.',
  }),
  subPath: field(4, s.string(), { doc: 'Path within the volume to mount. Defaults to the root of the volume.' }),
  mountPropagation: field(5, s.string(), {
    zeroValue: 'keep',
    doc: 'Propagation of mounts from and to the host: None, HostToContainer or Bidirectional. Unset means None.',
  }),
  subPathExpr: field(6, s.string(), {
    doc: 'Path within the volume to mount. References $(NAME) expand to environment variables.',
  }),
  recursiveReadOnly: field(7, s.string(), {
    zeroValue: 'keep',
    since: '1.30',
    gate: 'RecursiveReadOnlyMounts',
    doc: 'Whether nested mounts are read-only too: Disabled, IfPossible or Enabled. Requires readOnly.',
  }),
}

export type VolumeMount = InferFields<typeof mountFields>

const volumeMount = s.object(mountFields, {
  name: 'VolumeMount',
  doc: 'Mount of a volume, or of a path within it, into a container.',
})

const deviceFields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Name of a volume in the pod. The volume must come from a claim.',
  }),
  devicePath: field(2, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Path in the container at which the block device appears.',
  }),
}

export type VolumeDevice = InferFields<typeof deviceFields>

const volumeDevice = s.object(deviceFields, {
  name: 'VolumeDevice',
  doc: 'Mapping of a pod volume to a raw block device in a container.',
})

const ports = s.list(containerPort, {
  list: 'map',
  keys: ['containerPort', 'protocol'],
  patch: 'merge',
  mergeKey: 'containerPort',
})
const mounts = s.list(volumeMount, mergedBy('mountPath'))
const devices = s.list(volumeDevice, mergedBy('devicePath'))

const fields = {
  name: field(1, s.string(), {
    zeroValue: 'write',
    required: true,
    doc: 'Name of the container, unique in the pod. Must be a DNS label. Immutable.',
  }),
  image: field(2, s.string(), { doc: 'Container image to run.' }),
  command: field(3, s.list(s.string()), {
    doc: "Command that replaces the image's entrypoint. References $(NAME) expand to environment variables.",
  }),
  args: field(4, s.list(s.string()), {
    doc: "Arguments that replace the image's arguments. References $(NAME) expand to environment variables.",
  }),
  workingDir: field(5, s.string(), {
    doc: "Working directory of the container. Defaults to the image's working directory.",
  }),
  ports: field(6, ports, {
    doc: 'Ports that the container listens on. Informational: unlisted ports are reachable too.',
  }),
  envFrom: field(19, s.list(envFromSource), {
    doc: 'Sources whose keys all become environment variables. On duplicate keys, the last source takes precedence.',
  }),
  env: field(7, s.list(envVar, byName), {
    doc: 'Environment variables. They take precedence over variables from envFrom.',
  }),
  resources: field(8, resourceRequirements, {
    zeroValue: 'write',
    doc: 'Compute resources that the container requests, and their limits.',
  }),
  volumeMounts: field(9, mounts, { doc: 'Pod volumes to mount into the container.' }),
  volumeDevices: field(21, devices, { doc: 'Pod volumes to map to block devices in the container.' }),
  livenessProbe: field(10, probe, {
    doc: 'Probe that checks whether the container is alive. On failure, the container is restarted.',
  }),
  readinessProbe: field(11, readinessProbe, {
    doc: 'Probe that checks whether the container can serve requests. On failure, Services stop routing to the pod.',
  }),
  startupProbe: field(22, probe, {
    doc: 'Probe that checks whether the container has started. The other probes begin after it succeeds.',
  }),
  lifecycle: field(12, lifecycle, { doc: 'Actions to run after the container starts and before it stops.' }),
  terminationMessagePath: field(13, s.string(), {
    default: '/dev/termination-log',
    doc: "File from which the container's termination message is read. Defaults to /dev/termination-log.",
  }),
  terminationMessagePolicy: field(20, s.string(), {
    default: 'File',
    doc: 'Source of the termination message: File, or FallbackToLogsOnError if the file is empty. Defaults to File.',
  }),
  imagePullPolicy: field(14, s.oneOf('Always', 'IfNotPresent', 'Never'), {
    doc: 'When to pull the image: Always, IfNotPresent or Never. Defaults to Always for tag latest, else IfNotPresent.',
  }),
  securityContext: field(15, securityContext, {
    doc: "Security settings for the container. They override the pod's settings.",
  }),
  stdin: field(16, s.boolean(), { doc: 'Whether to keep standard input open. Defaults to false.' }),
  stdinOnce: field(17, s.boolean(), {
    doc: 'Whether to close standard input after the first client disconnects. Defaults to false.',
  }),
  tty: field(18, s.boolean(), {
    doc: 'Whether to allocate a terminal for the container. Requires stdin. Defaults to false.',
  }),
  resizePolicy: field(23, s.list(resizePolicy), {
    since: '1.27',
    gate: 'InPlacePodVerticalScaling',
    doc: 'Whether resizing each resource restarts the container.',
  }),
  restartPolicy: field(24, s.string(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'SidecarContainers',
    doc: 'Restart policy of the container. `Always` makes an init container a sidecar.',
  }),
  restartPolicyRules: field(25, s.list(restartRule), {
    since: '1.34',
    gate: 'ContainerRestartRules',
    doc: 'Rules in order that override restartPolicy when the container exits, at most 20.',
  }),
}

export type Container = InferFields<typeof fields>

export const container = s.object(fields, {
  name: 'Container',
  doc: 'A container image and the settings to run it with.',
  fill: fillPullPolicy,
  check: checkContainer,
})

const common = inlined(1, fields)

const ephemeralFields = {
  ...common,
  // A missing name is reported as an error of the whole container.
  name: { ...common.name, required: false, published: 'required' as const },
  targetContainerName: field(2, s.string(), {
    doc: 'Name of the container whose process namespace is shared. Unset shares none.',
  }),
}

export type EphemeralContainer = InferFields<typeof ephemeralFields>

export const ephemeralContainer = s.object(ephemeralFields, {
  name: 'EphemeralContainer',
  doc: 'A container added to a running pod for debugging. It is never restarted.',
  fill: fillPullPolicy,
  faultsAt: listedAlone,
  // For a container without a name, report only the missing name.
  leavesUnjudged: ({ name }) => (name ? [] : Object.keys(ephemeralFields)),
  check: (value, path, context) =>
    value.name
      ? [...checkContainer(value, listedAlone(path), context), ...checkEphemeral(value, path)]
      : [required(path, 'ephemeralContainer requires a name')],
})

/**
 * Returns the path at which errors of an ephemeral container are reported. The path ends in `[0]` because clients
 * expect each ephemeral container to be validated in a separate list.
 */
export function listedAlone(path: FieldPath): FieldPath {
  return at(path, 0)
}

/** Always pulls the tag `latest` because its image may change. */
function fillPullPolicy(value: Container): void {
  value.imagePullPolicy ??= tagOf(value.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

function checkContainer(value: Container, path: FieldPath, { vendor }: RuleContext): FieldError[] {
  const { name = '', livenessProbe, readinessProbe, startupProbe } = value
  return [
    ...(name === '' ? [] : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(value.image ? [] : [required(child(path, 'image'))]),
    ...checkMessagePolicy(value, path),
    ...checkPortNames(value.ports ?? [], child(path, 'ports')),
    ...checkEnvFrom(value.envFrom ?? [], child(path, 'envFrom')),
    ...checkMounts(value, child(path, 'volumeMounts')),
    ...checkContainerResources(value.resources ?? {}, child(path, 'resources'), vendor),
    ...(livenessProbe ? checkOneSuccess(livenessProbe, child(path, 'livenessProbe')) : []),
    ...(readinessProbe ? checkNoGracePeriod(readinessProbe, child(path, 'readinessProbe')) : []),
    ...(startupProbe ? checkOneSuccess(startupProbe, child(path, 'startupProbe')) : []),
  ]
}

function checkMessagePolicy({ terminationMessagePolicy: policy = '' }: Container, path: FieldPath): FieldError[] {
  if (policy === 'File' || policy === 'FallbackToLogsOnError') return []
  return [invalid(child(path, 'terminationMessagePolicy'), policy, "must be 'File' or 'FallbackToLogsOnError'")]
}

function checkPort({ name = '', hostPort = 0, containerPort: port = 0 }: ContainerPort, path: FieldPath): FieldError[] {
  const place = child(path, 'containerPort')
  return [
    ...(name === '' ? [] : checkPortName(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(port === 0 ? [required(place)] : checkPortNumber(port, place)),
    ...(hostPort === 0 ? [] : checkPortNumber(hostPort, child(path, 'hostPort'))),
  ]
}

function checkPortNames(all: readonly ContainerPort[], path: FieldPath): FieldError[] {
  const sound = all.map(({ name = '' }) => (checkPortName(name).length === 0 ? name : undefined))
  return [...repeatedAt(sound)].map((i) => duplicate(child(at(path, i), 'name'), sound[i]!))
}

const propagations = ['Bidirectional', 'HostToContainer', 'None']

/** Errors in paths and propagation name the list, because clients expect that path. */
function checkMounts({ volumeMounts = [], securityContext: rights }: Container, path: FieldPath): FieldError[] {
  return volumeMounts.flatMap(({ subPath = '', subPathExpr = '', mountPropagation: propagation }, i) => [
    ...checkDescendingPath(subPath, child(path, 'subPath')),
    ...checkDescendingPath(subPathExpr, child(path, 'subPathExpr')),
    ...(subPath !== '' && subPathExpr !== ''
      ? [invalid(child(at(path, i), 'subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...checkPropagation(propagation, rights?.privileged === true, child(path, 'mountPropagation')),
  ])
}

function checkPropagation(value: string | undefined, privileged: boolean, path: FieldPath): FieldError[] {
  if (value === undefined) return []
  if (!propagations.includes(value)) return [notSupported(path, value, propagations)]
  if (value !== 'Bidirectional' || privileged) return []
  return [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')]
}

const notForEphemeral = ['ports', 'livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'] as const

function checkEphemeral(value: EphemeralContainer, path: FieldPath): FieldError[] {
  const why = 'cannot be set for an Ephemeral Container'
  const resources = Object.keys(value.resources ?? {}).length > 0 ? ['resources'] : []
  const parts = (value.volumeMounts ?? []).flatMap((mount, i) =>
    (['subPath', 'subPathExpr'] as const)
      .filter((name) => mount[name])
      .map((name) => forbidden(child(at(child(path, 'volumeMounts'), i), name), why)),
  )
  const given = [...notForEphemeral.filter((name) => value[name] !== undefined), ...resources]
  return [...given.map((name) => forbidden(child(path, name), why)), ...parts]
}
