/**
 * Container and EphemeralContainer: what is run in a pod, with its ports, environment, resources, mounts and probes.
 * Rules that need the rest of the pod (its volumes, its other containers) are in the pod's spec.
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
import { checkEnvFrom, envFromSource, envVar } from './environment.ts'
import { checkDescendingPath } from './file-paths.ts'
import { checkNoGracePeriod, checkOneSuccess, checkPortNumber, lifecycle, probe } from './handlers.ts'
import { tagOf } from './image.ts'
import { repeatedAt } from './repeated.ts'
import { checkContainerResources, resourceRequirements } from './resources.ts'
import { securityContext } from './security-context.ts'

const portFields = {
  name: field(1, s.string(), { doc: 'The name of the port, by which Services and probes may call it.' }),
  hostPort: field(2, s.int32(), { doc: 'The port of the node that leads to it; none if unset.' }),
  containerPort: field(3, s.int32(), { zero: 'write', doc: 'The port in the container; from 1 to 65535.' }),
  protocol: field(4, s.oneOf('SCTP', 'TCP', 'UDP'), { default: 'TCP', doc: 'TCP, UDP or SCTP.' }),
  hostIP: field(5, s.string(), { doc: 'The address of the node to bind hostPort to; all if unset.' }),
}

export type ContainerPort = InferFields<typeof portFields>

const containerPort = s.object(portFields, {
  name: 'ContainerPort',
  doc: 'A port that a container listens on.',
  check: checkPort,
})

const mountFields = {
  name: field(1, s.string(), { zero: 'write', required: true, doc: 'The name of the volume.' }),
  readOnly: field(2, s.boolean(), { doc: 'Whether it can only be read here.' }),
  mountPath: field(3, s.string(), {
    zero: 'write',
    required: true,
    doc: 'Where it is in the container; without a colon.',
  }),
  subPath: field(4, s.string(), { doc: 'The path in the volume to mount; its root if unset.' }),
  mountPropagation: field(5, s.string(), {
    zero: 'keep',
    doc: 'Which later mounts are seen: None, HostToContainer or Bidirectional. None if unset.',
  }),
  subPathExpr: field(6, s.string(), { doc: 'Like subPath, with $(NAME) for variables of the container.' }),
}

export type VolumeMount = InferFields<typeof mountFields>

const volumeMount = s.object(mountFields, {
  name: 'VolumeMount',
  doc: 'A volume of the pod, or a part of it, as a directory or file in the container.',
})

const deviceFields = {
  name: field(1, s.string(), {
    zero: 'write',
    required: true,
    doc: 'The name of the volume, which comes from a claim.',
  }),
  devicePath: field(2, s.string(), { zero: 'write', required: true, doc: 'Where the device is in the container.' }),
}

export type VolumeDevice = InferFields<typeof deviceFields>

const volumeDevice = s.object(deviceFields, {
  name: 'VolumeDevice',
  doc: 'A volume of the pod as a block device in the container.',
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
    zero: 'write',
    required: true,
    doc: 'The name of the container, of its own in the pod. It cannot change.',
  }),
  image: field(2, s.string(), { doc: 'The image to run.' }),
  command: field(3, s.list(s.string()), {
    doc: 'What is run instead of the entry point of the image; $(NAME) stands for a variable.',
  }),
  args: field(4, s.list(s.string()), {
    doc: 'The arguments instead of those of the image; $(NAME) stands for a variable.',
  }),
  workingDir: field(5, s.string(), { doc: 'The directory to start in; that of the image if unset.' }),
  ports: field(6, ports, { doc: 'The ports it listens on. For information; others are reachable too.' }),
  envFrom: field(19, s.list(envFromSource), {
    doc: 'Objects whose keys become environment variables; later ones win.',
  }),
  env: field(7, s.list(envVar, byName), {
    doc: 'Environment variables; they win over envFrom.',
  }),
  resources: field(8, resourceRequirements, {
    zero: 'write',
    doc: 'What it is promised of resources, and may use at most.',
  }),
  volumeMounts: field(9, mounts, { doc: 'The volumes of the pod that it mounts.' }),
  volumeDevices: field(21, devices, { doc: 'The volumes of the pod that it uses as raw devices.' }),
  livenessProbe: field(10, probe, { doc: 'Tells whether it lives; if not, it is started again.' }),
  readinessProbe: field(11, probe, { doc: 'Tells whether it can serve; if not, Services leave it out.' }),
  startupProbe: field(22, probe, { doc: 'Tells whether it has started; the other probes wait for that.' }),
  lifecycle: field(12, lifecycle, { doc: 'What is done once it has started and before it is stopped.' }),
  terminationMessagePath: field(13, s.string(), {
    default: '/dev/termination-log',
    doc: 'The file from which its last words are read.',
  }),
  terminationMessagePolicy: field(20, s.string(), {
    default: 'File',
    doc: 'Where its last words are: File, or FallbackToLogsOnError if the file is empty.',
  }),
  imagePullPolicy: field(14, s.oneOf('Always', 'IfNotPresent', 'Never'), {
    doc: 'When the image is fetched: Always, IfNotPresent or Never. Always for the tag latest, else IfNotPresent.',
  }),
  securityContext: field(15, securityContext, { doc: 'With which rights it runs; wins over that of the pod.' }),
  stdin: field(16, s.boolean(), { doc: 'Whether its standard input is kept open.' }),
  stdinOnce: field(17, s.boolean(), { doc: 'Whether standard input is closed after the first client has left.' }),
  tty: field(18, s.boolean(), { doc: 'Whether it has a terminal; needs stdin.' }),
}

export type Container = InferFields<typeof fields>

export const container = s.object(fields, {
  name: 'Container',
  doc: 'A container: an image, and how it is run.',
  fill: fillPullPolicy,
  check: checkContainer,
})

const common = inlined(1, fields)

const ephemeralFields = {
  ...common,
  // Its absence is a fault of the container as a whole.
  name: { ...common.name, required: false, published: 'required' as const },
  targetContainerName: field(2, s.string(), { doc: 'The container whose processes it sees; none if unset.' }),
}

export type EphemeralContainer = InferFields<typeof ephemeralFields>

export const ephemeralContainer = s.object(ephemeralFields, {
  name: 'EphemeralContainer',
  doc: 'A container that is put into a running pod to look into it. It is never started again.',
  fill: fillPullPolicy,
  faultsAt: listedAlone,
  // Of one without a name nothing else is reported.
  leavesUnjudged: ({ name }) => (name ? [] : Object.keys(ephemeralFields)),
  check: (value, path, context) =>
    value.name
      ? [...checkContainer(value, listedAlone(path), context), ...checkEphemeral(value, path)]
      : [required(path, 'ephemeralContainer requires a name')],
})

/**
 * As a container an ephemeral one is judged in a list of its own, and its faults are reported there, as clients expect.
 */
export function listedAlone(path: FieldPath): FieldPath {
  return at(path, 0)
}

/** An image that may change under its name is asked for each time. */
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

/** Faults in paths and propagation name the list, as clients are used to. */
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
