/**
 * A Container is an image with its ports, environment, resources, mounts and probes. The rules that depend on the rest
 * of the pod (its volumes and other containers) are in pod-containers.ts and container-settings.ts.
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
  name: field(1, s.string(), { doc: 'Name of the port. Services and probes can refer to the port by this name.' }),
  hostPort: field(2, s.int32(), {
    doc: 'Port on the node that is forwarded to the container port, from 1 to 65535. If unset, no node port is opened.',
  }),
  containerPort: field(3, s.int32(), { zeroValue: 'write', doc: 'Port number in the container, from 1 to 65535.' }),
  protocol: field(4, s.oneOf('SCTP', 'TCP', 'UDP'), {
    default: 'TCP',
    publishDefaultSince: '1.24',
    doc: 'Transport protocol: TCP, UDP or SCTP. Defaults to TCP.',
  }),
  hostIP: field(5, s.string(), {
    doc: 'IP address of the node to which the host port is bound. If unset, the port is bound on all addresses.',
  }),
}

export type ContainerPort = InferFields<typeof portFields>

const containerPort = s.object(portFields, {
  name: 'ContainerPort',
  doc: 'A port of a container.',
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
    doc: "Command to run instead of the image's entrypoint. References such as `$(NAME)` expand to environment variables.",
  }),
  args: field(4, s.list(s.string()), {
    doc: "Arguments to use instead of the image's arguments. References such as `$(NAME)` expand to environment variables.",
  }),
  workingDir: field(5, s.string(), {
    doc: "Working directory of the container. Defaults to the image's working directory.",
  }),
  ports: field(6, ports, {
    doc: 'Ports that the container listens on. The list is informational: other ports are reachable as well.',
  }),
  envFrom: field(19, s.list(envFromSource), {
    doc: 'ConfigMaps and Secrets whose keys all become environment variables. If a key occurs more than once, the last source takes precedence.',
  }),
  env: field(7, s.list(envVar, byName), {
    doc: 'Environment variables to set in the container. They take precedence over variables from `envFrom`.',
  }),
  resources: field(8, resourceRequirements, {
    zeroValue: 'write',
    doc: 'Resource requests and limits of the container.',
  }),
  volumeMounts: field(9, volumeMounts, { doc: 'Pod volumes to mount into the container.' }),
  volumeDevices: field(21, volumeDevices, { doc: 'Pod volumes to map to block devices in the container.' }),
  livenessProbe: field(10, probe, {
    doc: 'Probe that checks whether the container is alive. If the probe fails, the container is restarted.',
  }),
  readinessProbe: field(11, readinessProbe, {
    doc: 'Probe that checks whether the container can serve requests. If the probe fails, Services stop sending traffic to the pod.',
  }),
  startupProbe: field(22, probe, {
    doc: 'Probe that checks whether the container has started. The other probes do not run until this probe succeeds.',
  }),
  lifecycle: field(12, lifecycle, { doc: 'Actions to run after the container starts and before it stops.' }),
  terminationMessagePath: field(13, s.string(), {
    default: '/dev/termination-log',
    doc: 'Path of the termination message file in the container. Defaults to `/dev/termination-log`.',
  }),
  terminationMessagePolicy: field(20, s.string(), {
    default: 'File',
    doc: 'Where the termination message comes from: the file (`File`), or the end of the log if the file is empty and the container failed (`FallbackToLogsOnError`). Defaults to `File`.',
  }),
  imagePullPolicy: field(14, s.oneOf('Always', 'IfNotPresent', 'Never'), {
    doc: 'When to pull the image: `Always`, `IfNotPresent` or `Never`. Defaults to `Always` if the image tag is `latest`, otherwise to `IfNotPresent`.',
  }),
  securityContext: field(15, securityContext, {
    doc: "Security settings for the container. They override the pod's security settings.",
  }),
  stdin: field(16, s.boolean(), { doc: "Whether to keep the container's standard input open. Defaults to false." }),
  stdinOnce: field(17, s.boolean(), {
    doc: 'Whether to close standard input after the first client disconnects. Defaults to false.',
  }),
  tty: field(18, s.boolean(), {
    doc: 'Whether to allocate a terminal for the container. Requires `stdin`. Defaults to false.',
  }),
  resizePolicy: field(23, s.list(resizePolicy), {
    since: '1.27',
    gate: 'InPlacePodVerticalScaling',
    doc: 'Specifies, for each resource, whether the container restarts when the resource is resized.',
  }),
  restartPolicy: field(24, s.string(), {
    zeroValue: 'keep',
    since: '1.28',
    gate: 'SidecarContainers',
    doc: 'Restart policy of the container. An init container with the policy `Always` is a sidecar.',
  }),
  restartPolicyRules: field(25, s.list(restartRule), {
    since: '1.34',
    gate: 'ContainerRestartRules',
    doc: 'Rules that override `restartPolicy` when the container exits, checked in order. At most 20 rules.',
  }),
}

export type Container = InferFields<typeof fields>

/** Regular containers keep `restartPolicy` even if its feature gate is disabled, so that validation can reject it. */
export const ungatedFields = { ...fields, restartPolicy: { ...fields.restartPolicy, gateDrops: 'never' as const } }

export const container = s.object(ungatedFields, {
  name: 'Container',
  doc: 'A container to run in a pod, with its image and settings.',
  fill: fillPullPolicy,
  check: (value, path, context) => [...checkContainer(value, path, context), ...checkProbes(value, path)],
})

/** Whether an init container is a sidecar. A sidecar starts before the regular containers and continues to run. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always'
}

const probesAndLifecycle = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const

/** Whether only the first of several errors about a forbidden part is reported, as has been the case since 1.26. */
function reportsOnce(context: RuleContext): boolean {
  return isSince('1.26', context)
}

/** An init container. Only sidecars may have probes and lifecycle handlers. */
export const initContainer: typeof container = {
  ...container,
  fields,
  fieldsToSkip: (value, context) => (reportsOnce(context) && !isSidecar(value) ? probesAndLifecycle : []),
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

/** Sets the default pull policy. Images with the tag `latest` are always pulled, because they may change. */
export function fillPullPolicy(value: Container): void {
  value.imagePullPolicy ??= tagOf(value.image ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

/** Applies the rules shared by all kinds of containers. */
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
