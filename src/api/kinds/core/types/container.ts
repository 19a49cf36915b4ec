/**
 * Container: an image with its ports, environment, resources, mounts and probes. Rules that depend on the rest of the
 * pod (its volumes and other containers) are in pod-containers.ts and container-settings.ts.
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
import { isSince, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { byName } from '../../list-keys.ts'
import { resizePolicy, restartRule } from './container-restarts.ts'
import { checkEnvFrom, envFromSource, envVar } from './environment.ts'
import { checkNoGracePeriod, checkOneSuccess, checkPortNumber, lifecycle, probe, readinessProbe } from './handlers.ts'
import { tagOf } from './image.ts'
import { repeatedAt } from './repeated.ts'
import { checkContainerResources, resourceRequirements } from './resources.ts'
import { securityContext } from './security-context.ts'
import { checkMounts, volumeDevices, volumeMounts } from './volume-mounts.ts'

const portFields = {
  name: field(1, s.string(), { doc: 'Name of the port, to which Services and probes can refer.' }),
  hostPort: field(2, s.int32(), {
    doc: 'Port on the node that forwards to the container port, from 1 to 65535. Unset exposes no node port.',
  }),
  containerPort: field(3, s.int32(), { zeroValue: 'write', doc: 'Port number in the container, from 1 to 65535.' }),
  protocol: field(4, s.oneOf('SCTP', 'TCP', 'UDP'), {
    default: 'TCP',
    publishDefaultSince: '1.24',
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

const ports = s.list(containerPort, {
  list: 'map',
  keys: ['containerPort', 'protocol'],
  patch: 'merge',
  mergeKey: 'containerPort',
})
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
  volumeMounts: field(9, volumeMounts, { doc: 'Pod volumes to mount into the container.' }),
  volumeDevices: field(21, volumeDevices, { doc: 'Pod volumes to map to block devices in the container.' }),
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

/** Validation rejects the restart policy of other containers than init containers, so the gate does not drop it. */
export const ungatedFields = { ...fields, restartPolicy: { ...fields.restartPolicy, gateDrops: 'never' as const } }

export const container = s.object(ungatedFields, {
  name: 'Container',
  doc: 'A container image and the settings to run it with.',
  fill: fillPullPolicy,
  check: (value, path, context) => [...checkContainer(value, path, context), ...checkProbes(value, path)],
})

/** Whether an init container is a sidecar: it starts before the regular containers and keeps running. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always'
}

const probesAndLifecycle = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const

/** Since 1.26, parts that an init container or an ephemeral container must not have are not validated further. */
function reportsOnce(context: RuleContext): boolean {
  return isSince('1.26', context)
}

/** An init container. Only sidecars have probes and lifecycle handlers. */
export const initContainer: typeof container = {
  ...container,
  fields,
  leavesUnjudged: (value, context) => (reportsOnce(context) && !isSidecar(value) ? probesAndLifecycle : []),
  check: (value, path, context) => [
    ...checkContainer(value, path, context),
    ...(reportsOnce(context) && !isSidecar(value) ? [] : checkProbes(value, path)),
  ],
}

/** Reports probes and lifecycle handlers of an init container that is not a sidecar. */
export function checkNoProbes(value: Container, path: FieldPath, context: RuleContext): FieldError[] {
  const names = probesAndLifecycle.filter((name) => value[name] !== undefined)
  return reportsOnce(context)
    ? names.map((name) =>
        forbidden(child(path, name), 'may not be set for init containers without restartPolicy=Always'),
      )
    : names.map((name) => invalid(child(path, name), value[name], 'must not be set for init containers'))
}

/** Always pulls the tag `latest` because its image may change. */
export function fillPullPolicy(value: Container): void {
  value.imagePullPolicy ??= tagOf(value.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

/** The rules for all kinds of containers. */
export function checkContainer(value: Container, path: FieldPath, context: RuleContext): FieldError[] {
  const { vendor } = context
  const { name = '' } = value
  return [
    ...(name === '' ? [] : checkDnsLabel(name).map((text) => invalid(child(path, 'name'), name, text))),
    ...(value.image ? [] : [required(child(path, 'image'))]),
    ...checkMessagePolicy(value, path, context),
    ...checkPortNames(value.ports ?? [], child(path, 'ports')),
    ...checkEnvFrom(value.envFrom ?? [], child(path, 'envFrom')),
    ...checkMounts(value.volumeMounts ?? [], value.securityContext, child(path, 'volumeMounts')),
    ...checkContainerResources(value.resources ?? {}, child(path, 'resources'), vendor),
  ]
}

export function checkProbes(value: Container, path: FieldPath): FieldError[] {
  const { livenessProbe, readinessProbe, startupProbe } = value
  return [
    ...(livenessProbe ? checkOneSuccess(livenessProbe, child(path, 'livenessProbe')) : []),
    ...(readinessProbe ? checkNoGracePeriod(readinessProbe, child(path, 'readinessProbe')) : []),
    ...(startupProbe ? checkOneSuccess(startupProbe, child(path, 'startupProbe')) : []),
  ]
}

const messagePolicies = ['FallbackToLogsOnError', 'File']

function checkMessagePolicy(
  { terminationMessagePolicy: policy = '' }: Container,
  path: FieldPath,
  context: RuleContext,
) {
  if (messagePolicies.includes(policy)) return []
  const place = child(path, 'terminationMessagePolicy')
  return isSince('1.26', context)
    ? [notSupported(place, policy, messagePolicies)]
    : [invalid(place, policy, "must be 'File' or 'FallbackToLogsOnError'")]
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
