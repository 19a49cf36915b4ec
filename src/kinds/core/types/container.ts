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
import { checkEnvFrom, envFromSource, envVar } from './environment.ts'
import { checkDescendingPath } from './file-paths.ts'
import { checkOneSuccess, checkPortNumber, lifecycle, probe } from './handlers.ts'
import { tagOf } from './image.ts'
import { repeatedAt } from './repeated.ts'
import { checkContainerResources, resourceRequirements } from './resources.ts'
import { securityContext } from './security-context.ts'

const portFields = {
  name: field(1, s.string()),
  hostPort: field(2, s.int32()),
  containerPort: field(3, s.int32(), { zero: 'write' }),
  protocol: field(4, s.oneOf('SCTP', 'TCP', 'UDP'), { default: 'TCP' }),
  hostIP: field(5, s.string()),
}

export type ContainerPort = InferFields<typeof portFields>

const containerPort = s.object(portFields, {
  name: 'ContainerPort',
  doc: 'A port that a container listens on.',
  check: checkPort,
})

const mountFields = {
  name: field(1, s.string(), { zero: 'write', required: true }),
  readOnly: field(2, s.boolean()),
  mountPath: field(3, s.string(), { zero: 'write', required: true }),
  subPath: field(4, s.string()),
  mountPropagation: field(5, s.string(), { zero: 'keep' }),
  subPathExpr: field(6, s.string()),
}

export type VolumeMount = InferFields<typeof mountFields>

const volumeMount = s.object(mountFields, {
  name: 'VolumeMount',
  doc: 'A volume of the pod, or a part of it, as a directory or file in the container.',
})

const deviceFields = {
  name: field(1, s.string(), { zero: 'write', required: true }),
  devicePath: field(2, s.string(), { zero: 'write', required: true }),
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
const mounts = s.list(volumeMount, { list: 'map', keys: ['mountPath'], patch: 'merge', mergeKey: 'mountPath' })
const devices = s.list(volumeDevice, { list: 'map', keys: ['devicePath'], patch: 'merge', mergeKey: 'devicePath' })

const fields = {
  name: field(1, s.string(), { zero: 'write', required: true }),
  image: field(2, s.string()),
  command: field(3, s.list(s.string())),
  args: field(4, s.list(s.string())),
  workingDir: field(5, s.string()),
  ports: field(6, ports),
  env: field(7, s.list(envVar, { list: 'map', keys: ['name'], patch: 'merge', mergeKey: 'name' })),
  resources: field(8, resourceRequirements, { zero: 'write' }),
  volumeMounts: field(9, mounts),
  livenessProbe: field(10, probe),
  readinessProbe: field(11, probe),
  lifecycle: field(12, lifecycle),
  terminationMessagePath: field(13, s.string(), { default: '/dev/termination-log' }),
  imagePullPolicy: field(14, s.oneOf('Always', 'IfNotPresent', 'Never')),
  securityContext: field(15, securityContext),
  stdin: field(16, s.boolean()),
  stdinOnce: field(17, s.boolean()),
  tty: field(18, s.boolean()),
  envFrom: field(19, s.list(envFromSource)),
  terminationMessagePolicy: field(20, s.string(), { default: 'File' }),
  volumeDevices: field(21, devices),
  startupProbe: field(22, probe),
}

export type Container = InferFields<typeof fields>

export const container = s.object(fields, {
  name: 'Container',
  doc: 'A container: an image, and how it is run.',
  fill: fillPullPolicy,
  check: checkContainer,
})

const ephemeralFields = { ...inlined(1, fields), targetContainerName: field(2, s.string()) }

export type EphemeralContainer = InferFields<typeof ephemeralFields>

export const ephemeralContainer = s.object(ephemeralFields, {
  name: 'EphemeralContainer',
  doc: 'A container that is put into a running pod to look into it. It is never started again.',
  fill: fillPullPolicy,
  check: (value, path, context) => [...checkContainer(value, path, context), ...checkEphemeral(value, path)],
})

/** An image that may change under its name is asked for each time. */
function fillPullPolicy(value: Container): void {
  value.imagePullPolicy ??= tagOf(value.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

function checkContainer(value: Container, path: FieldPath, { vendor }: RuleContext): FieldError[] {
  const { name = '', livenessProbe, startupProbe } = value
  return [
    ...(name === '' ? [] : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(value.image ? [] : [required(child(path, 'image'))]),
    ...checkMessagePolicy(value, path),
    ...checkPortNames(value.ports ?? [], child(path, 'ports')),
    ...checkEnvFrom(value.envFrom ?? [], child(path, 'envFrom')),
    ...checkMounts(value, child(path, 'volumeMounts')),
    ...checkContainerResources(value.resources ?? {}, child(path, 'resources'), vendor),
    ...(livenessProbe ? checkOneSuccess(livenessProbe, child(path, 'livenessProbe')) : []),
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
