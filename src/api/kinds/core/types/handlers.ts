/** Probes and lifecycle hooks of a container. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkPortName } from '../../../model/names.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'

const execAction = s.object(
  {
    command: field(1, s.list(s.string()), {
      doc: 'Command and its arguments. The command is executed without a shell.',
    }),
  },
  {
    name: 'ExecAction',
    doc: 'Runs a command in the container. Exit code 0 counts as success.',
    check: ({ command = [] }, path) => (command.length > 0 ? [] : [required(child(path, 'command'))]),
  },
)

const httpHeader = s.object(
  {
    name: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the header.' }),
    value: field(2, s.string(), { zeroValue: 'write', doc: 'Value of the header.' }),
  },
  { name: 'HTTPHeader', doc: 'An HTTP header to send with the request.' },
)

const httpGetFields = {
  path: field(1, s.string(), { default: '/', doc: 'URL path to request. Defaults to `/`.' }),
  port: field(2, s.intOrString(), { zeroValue: 'write', doc: 'Number or name of the container port to connect to.' }),
  host: field(3, s.string(), { doc: 'Host to connect to. Defaults to the pod IP.' }),
  scheme: field(4, s.oneOf('HTTP', 'HTTPS'), {
    default: 'HTTP',
    doc: 'Scheme of the request: `HTTP` or `HTTPS`. Defaults to `HTTP`.',
  }),
  httpHeaders: field(5, s.list(httpHeader), { doc: 'HTTP headers to send with the request.' }),
}

const httpGetAction = s.object(httpGetFields, {
  name: 'HTTPGetAction',
  doc: 'Sends an HTTP GET request. A status code from 200 to 399 counts as success.',
  check: ({ port = 0, httpHeaders = [] }, path) => [
    ...checkPort(port, child(path, 'port')),
    ...httpHeaders.flatMap(({ name = '' }) => checkHeaderName(name, child(path, 'httpHeaders'))),
  ],
})

const tcpSocketAction = s.object(
  {
    port: field(1, s.intOrString(), { zeroValue: 'write', doc: 'Number or name of the container port to connect to.' }),
    host: field(2, s.string(), { doc: 'Host to connect to. Defaults to the pod IP.' }),
  },
  {
    name: 'TCPSocketAction',
    doc: 'Opens a TCP connection. The check succeeds if the connection is established.',
    check: ({ port = 0 }, path) => checkPort(port, child(path, 'port')),
  },
)

const grpcAction = s.object(
  {
    port: field(1, s.int32(), { zeroValue: 'write', doc: 'Port number of the gRPC server, from 1 to 65535.' }),
    service: field(2, s.string(), {
      zeroValue: 'keep',
      default: '',
      doc: 'Service name to send in the health check request. Defaults to the empty string.',
    }),
  },
  {
    name: 'GRPCAction',
    doc: 'Sends a request to the health-checking service of a gRPC server.',
    check: ({ port = 0 }, path) => checkPortNumber(port, child(path, 'port')),
  },
)

const handlerFields = {
  exec: field(1, execAction, { doc: 'Runs a command in the container.' }),
  httpGet: field(2, httpGetAction, { doc: 'Sends an HTTP GET request.' }),
  tcpSocket: field(3, tcpSocketAction, { doc: 'Opens a TCP connection.' }),
}

const handlerNames = ['exec', 'httpGet', 'tcpSocket']
const noun = 'handler type'

const probeFields = {
  ...inlined(1, {
    ...handlerFields,
    grpc: field(4, grpcAction, { doc: 'Sends a gRPC health check request.' }),
  }),
  initialDelaySeconds: field(2, s.int32(), {
    doc: 'Number of seconds between the start of the container and the first probe. Defaults to 0.',
  }),
  timeoutSeconds: field(3, s.int32(), {
    default: 1,
    doc: 'Number of seconds after which a probe times out. Defaults to 1.',
  }),
  periodSeconds: field(4, s.int32(), { default: 10, doc: 'Number of seconds between probes. Defaults to 10.' }),
  successThreshold: field(5, s.int32(), {
    default: 1,
    doc: 'Number of consecutive successes after which a failed probe counts as successful again. Must be 1 for liveness and startup probes. Defaults to 1.',
  }),
  failureThreshold: field(6, s.int32(), {
    default: 3,
    doc: 'Number of consecutive failures after which the probe counts as failed. Defaults to 3.',
  }),
  terminationGracePeriodSeconds: field(7, s.int64(), {
    zeroValue: 'keep',
    gate: 'ProbeTerminationGracePeriod',
    doc: 'Number of seconds that the container has to terminate after the probe fails. Requires the ProbeTerminationGracePeriod feature gate.',
  }),
}

export type Probe = InferFields<typeof probeFields>

export const probe = s.object(probeFields, {
  name: 'Probe',
  doc: 'A periodic check of a container. Exactly one handler must be set.',
  choice: { among: [...handlerNames, 'grpc'], noun },
  check: checkTimes,
})

const { gate: _, ...ungatedGracePeriod } = probeFields.terminationGracePeriodSeconds

/** Readiness probes keep the grace period even if its feature gate is disabled, so that validation can reject it. */
export const readinessProbe = {
  ...probe,
  fields: { ...probeFields, terminationGracePeriodSeconds: ungatedGracePeriod },
}

const sleepAction = s.object(
  { seconds: field(1, s.int64(), { zeroValue: 'write', doc: 'Number of seconds to sleep.' }) },
  { name: 'SleepAction', doc: 'Pauses for a given number of seconds.' },
)

const lifecycleFields = {
  ...handlerFields,
  sleep: field(4, sleepAction, {
    since: '1.29',
    gate: 'PodLifecycleSleepAction',
    dropsEmptyOwner: true,
    doc: 'Pauses for a given number of seconds.',
  }),
}

const lifecycleHandler = s.object(lifecycleFields, {
  name: 'LifecycleHandler',
  doc: "An action to run at a point in a container's lifecycle. Exactly one handler must be set.",
  choice: { among: [...handlerNames, 'sleep'], noun },
})

const lifecycleHooks = {
  postStart: field(1, lifecycleHandler, {
    doc: 'Action to run immediately after the container starts. The container is not ready until the action finishes.',
  }),
  preStop: field(2, lifecycleHandler, {
    doc: 'Action to run before the container is stopped. The duration of the action counts towards the grace period.',
  }),
  stopSignal: field(3, s.string(), {
    zeroValue: 'keep',
    since: '1.33',
    gate: 'ContainerStopSignals',
    dropsEmptyOwner: true,
    doc: 'Signal that stops the container, such as `SIGTERM`. Defaults to the signal that the image specifies. Requires `spec.os.name`.',
  }),
}

export type Lifecycle = InferFields<typeof lifecycleHooks>

export const lifecycle = s.object(lifecycleHooks, {
  name: 'Lifecycle',
  doc: 'Actions to run after a container starts and before it stops.',
})

const times = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const

function checkTimes(value: Probe, path: FieldPath): FieldError[] {
  const { terminationGracePeriodSeconds: grace = 1 } = value
  return [
    ...times
      .filter((name) => (value[name] ?? 0) < 0)
      .map((name) => invalid(child(path, name), value[name], 'must be greater than or equal to 0')),
    ...(grace > 0 ? [] : [invalid(child(path, 'terminationGracePeriodSeconds'), grace, 'must be greater than 0')]),
  ]
}

/** Rejects a grace period on a readiness probe, because a failed readiness probe does not stop the container. */
export function checkNoGracePeriod({ terminationGracePeriodSeconds: grace }: Probe, path: FieldPath): FieldError[] {
  const place = child(path, 'terminationGracePeriodSeconds')
  return grace === undefined ? [] : [invalid(place, grace, 'must not be set for readinessProbes')]
}

/** Requires a success threshold of 1, which is the only valid value for liveness and startup probes. */
export function checkOneSuccess({ successThreshold = 1 }: Probe, path: FieldPath): FieldError[] {
  return successThreshold === 1 ? [] : [invalid(child(path, 'successThreshold'), successThreshold, 'must be 1')]
}

export function checkPortNumber(port: number, path: FieldPath): FieldError[] {
  return port >= 1 && port <= 65535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')]
}

/** Validates a port that is given as a number or as a name. */
export function checkPort(port: number | string, path: FieldPath): FieldError[] {
  if (typeof port === 'number') return checkPortNumber(port, path)
  return checkPortName(port).map((text) => invalid(path, port, text))
}

function checkHeaderName(name: string, path: FieldPath): FieldError[] {
  return /^[-A-Za-z0-9]+$/.test(name) ? [] : [invalid(path, name, 'must consist of letters, digits and dashes')]
}
