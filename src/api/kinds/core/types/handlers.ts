/** What is done to or in a container from outside: probes that ask how it is, and hooks in its life. */
import { child, type FieldError, type FieldPath, invalid, required } from '../../../model/field-error.ts'
import { checkPortName } from '../../../model/names.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'

const execAction = s.object(
  { command: field(1, s.list(s.string()), { doc: 'The command and its arguments; not run in a shell.' }) },
  {
    name: 'ExecAction',
    doc: 'Runs a command in the container; it is well if the command ends with 0.',
    check: ({ command = [] }, path) => (command.length > 0 ? [] : [required(child(path, 'command'))]),
  },
)

const httpHeader = s.object(
  {
    name: field(1, s.string(), { zero: 'write', doc: 'The name of the header.' }),
    value: field(2, s.string(), { zero: 'write', doc: 'Its value.' }),
  },
  { name: 'HTTPHeader', doc: 'A header of an HTTP request.' },
)

const httpGetFields = {
  path: field(1, s.string(), { default: '/', doc: 'The path to request.' }),
  port: field(2, s.intOrString(), { zero: 'write', doc: 'The port, by number or name.' }),
  host: field(3, s.string(), { doc: 'The host to connect to; the pod if unset.' }),
  scheme: field(4, s.oneOf('HTTP', 'HTTPS'), { default: 'HTTP', doc: 'HTTP or HTTPS.' }),
  httpHeaders: field(5, s.list(httpHeader), { doc: 'Further headers of the request.' }),
}

const httpGetAction = s.object(httpGetFields, {
  name: 'HTTPGetAction',
  doc: 'Sends an HTTP GET; it is well if the answer is from 200 to 399.',
  check: ({ port = 0, httpHeaders = [] }, path) => [
    ...checkPort(port, child(path, 'port')),
    ...httpHeaders.flatMap(({ name = '' }) => checkHeaderName(name, child(path, 'httpHeaders'))),
  ],
})

const tcpSocketAction = s.object(
  {
    port: field(1, s.intOrString(), { zero: 'write', doc: 'The port, by number or name.' }),
    host: field(2, s.string(), { doc: 'The host to connect to; the pod if unset.' }),
  },
  {
    name: 'TCPSocketAction',
    doc: 'Opens a connection; it is well if that succeeds.',
    check: ({ port = 0 }, path) => checkPort(port, child(path, 'port')),
  },
)

const grpcAction = s.object(
  {
    port: field(1, s.int32(), { zero: 'write', doc: 'The port.' }),
    service: field(2, s.string(), { zero: 'keep', default: '', doc: 'The service to check.' }),
  },
  {
    name: 'GRPCAction',
    doc: 'Asks the health service of a gRPC server.',
    check: ({ port = 0 }, path) => checkPortNumber(port, child(path, 'port')),
  },
)

const handlerFields = {
  exec: field(1, execAction, { doc: 'Runs a command in the container.' }),
  httpGet: field(2, httpGetAction, { doc: 'Sends an HTTP request.' }),
  tcpSocket: field(3, tcpSocketAction, { doc: 'Opens a connection.' }),
}

const handlerNames = ['exec', 'httpGet', 'tcpSocket']
const noun = 'handler type'

const probeFields = {
  ...inlined(1, { ...handlerFields, grpc: field(4, grpcAction, { doc: 'Asks a gRPC server.' }) }),
  initialDelaySeconds: field(2, s.int32(), { doc: 'How long after the start the first try is made.' }),
  timeoutSeconds: field(3, s.int32(), { default: 1, doc: 'How long a try may take.' }),
  periodSeconds: field(4, s.int32(), { default: 10, doc: 'How often it is tried.' }),
  successThreshold: field(5, s.int32(), {
    default: 1,
    doc: 'How many tries must go well in a row after one that failed.',
  }),
  failureThreshold: field(6, s.int32(), { default: 3, doc: 'How many tries must fail in a row.' }),
  terminationGracePeriodSeconds: field(7, s.int64(), {
    zero: 'keep',
    doc: 'How long the container may take to end when the probe fails; what the pod says if unset.',
  }),
}

export type Probe = InferFields<typeof probeFields>

export const probe = s.object(probeFields, {
  name: 'Probe',
  doc: 'A question that is put to a container again and again.',
  choice: { among: [...handlerNames, 'grpc'], noun },
  check: checkTimes,
})

const lifecycleHandler = s.object(handlerFields, {
  name: 'LifecycleHandler',
  doc: 'What is done at one point of the life of a container.',
  choice: { among: handlerNames, noun },
})

export const lifecycle = s.object(
  {
    postStart: field(1, lifecycleHandler, {
      doc: 'Done right after the container has started; it is not ready before.',
    }),
    preStop: field(2, lifecycleHandler, { doc: 'Done before the container is stopped, within the grace period.' }),
  },
  { name: 'Lifecycle', doc: 'What is done after a container has started and before it is stopped.' },
)

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

/** A container is not ended because it is not ready. */
export function checkNoGracePeriod({ terminationGracePeriodSeconds: grace }: Probe, path: FieldPath): FieldError[] {
  const place = child(path, 'terminationGracePeriodSeconds')
  return grace === undefined ? [] : [invalid(place, grace, 'must not be set for readinessProbes')]
}

/** A probe of whether a container lives or has started must succeed only once. */
export function checkOneSuccess({ successThreshold = 1 }: Probe, path: FieldPath): FieldError[] {
  return successThreshold === 1 ? [] : [invalid(child(path, 'successThreshold'), successThreshold, 'must be 1')]
}

export function checkPortNumber(port: number, path: FieldPath): FieldError[] {
  return port >= 1 && port <= 65535 ? [] : [invalid(path, port, 'must be between 1 and 65535, inclusive')]
}

/** A port by its number, or by the name that it has elsewhere. */
export function checkPort(port: number | string, path: FieldPath): FieldError[] {
  if (typeof port === 'number') return checkPortNumber(port, path)
  return checkPortName(port).map((text) => invalid(path, port, text))
}

function checkHeaderName(name: string, path: FieldPath): FieldError[] {
  return /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [invalid(path, name, 'a header name consists of letters, digits and dashes')]
}
