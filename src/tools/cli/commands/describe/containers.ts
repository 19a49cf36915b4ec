/** Describes the containers of a pod or pod template: their configuration and state. */

import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { parseQuantity } from '../../../../api/model/quantity.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { lines, quantitiesText, timeText } from './parts.ts'

type PodSpec = NonNullable<Pod['spec']>
type Container = NonNullable<PodSpec['containers']>[number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]
type Probe = NonNullable<Container['livenessProbe']>

const lead = '    '

/** Describes containers. As in kubectl, the description is indented one level deeper than `title`. */
export function containersText(
  title: string,
  containers: readonly Container[] | undefined,
  running?: { readonly statuses: readonly ContainerStatus[] | undefined; readonly pod: Pod },
): string {
  if (containers === undefined || containers.length === 0) return ''
  const step = title.startsWith(' ') ? '   ' : '  '
  const texts = containers.map((container) => {
    const status = running?.statuses?.find(({ name }) => name === container.name)
    return `${step}${container.name}:\n${containerText(container, status, running?.pod)}`
  })
  return `${title}:\n${texts.join('')}`
}

function containerText(container: Container, status: ContainerStatus | undefined, pod: Pod | undefined): string {
  const ports = container.ports ?? []
  const noun = ports.length > 1 ? 'Ports' : 'Port'
  return [
    lines(
      {
        'Container ID': status && (status.containerID ?? ''),
        Image: container.image ?? '',
        'Image ID': status && (status.imageID ?? ''),
        [noun]: portsText(ports, 'containerPort'),
        [`Host ${noun}`]: portsText(ports, 'hostPort'),
      },
      lead,
    ),
    wordsText('Command', container.command),
    wordsText('Args', container.args),
    status === undefined ? '' : statusText(status),
    quantitiesText('Limits', container.resources?.limits, lead),
    quantitiesText('Requests', container.resources?.requests, lead),
    lines(
      {
        Liveness: probeText(container.livenessProbe),
        Readiness: probeText(container.readinessProbe),
        Startup: probeText(container.startupProbe),
      },
      lead,
    ),
    sourcesText(container),
    environmentText(container, pod),
    mountsText(container),
  ].join('')
}

function portsText(ports: NonNullable<Container['ports']>, field: 'containerPort' | 'hostPort'): string {
  if (ports.length === 0) return '<none>'
  return ports.map((port) => `${port[field] ?? 0}/${port.protocol}`).join(', ')
}

function wordsText(title: string, words: readonly string[] | undefined): string {
  if (words === undefined || words.length === 0) return ''
  return `${lead}${title}:\n${words.map((word) => `      ${word}\n`).join('')}`
}

function statusText({ state, lastState, ready, restartCount }: ContainerStatus): string {
  const last = lastState === undefined || Object.keys(lastState).length === 0 ? '' : stateText('Last State', lastState)
  const counts = lines({ Ready: ready ? 'True' : 'False', 'Restart Count': restartCount ?? 0 }, lead)
  return `${stateText('State', state ?? {})}${last}${counts}`
}

interface State {
  readonly reason?: string
  readonly message?: string
  readonly exitCode?: number
  readonly signal?: number
  readonly startedAt?: string
  readonly finishedAt?: string
}

function stateText(title: string, state: NonNullable<ContainerStatus['state']>): string {
  const [name = 'waiting', detail = {}] = (Object.entries(state).find(([, value]) => value !== undefined) ?? []) as [
    string?,
    State?,
  ]
  const details = {
    Reason: detail.reason || undefined,
    Message: detail.message || undefined,
    'Exit Code': detail.exitCode,
    Signal: detail.signal || undefined,
    Started: detail.startedAt && timeText(detail.startedAt),
    Finished: detail.finishedAt && timeText(detail.finishedAt),
  }
  return `${lead}${title}:\t${name[0]!.toUpperCase()}${name.slice(1)}\n${lines(details, '      ')}`
}

/** Formats a probe, for example `http-get http://:80/live delay=5s timeout=1s period=10s #success=1 #failure=3`. */
function probeText(probe: Probe | undefined): string | undefined {
  if (probe === undefined) return undefined
  const {
    initialDelaySeconds = 0,
    timeoutSeconds = 0,
    periodSeconds = 0,
    successThreshold = 0,
    failureThreshold = 0,
  } = probe
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`
  return `${howProbed(probe)} ${times} #success=${successThreshold} #failure=${failureThreshold}`
}

function howProbed({ exec, httpGet, tcpSocket, grpc }: Probe): string {
  if (exec !== undefined) return `exec [${(exec.command ?? []).join(' ')}]`
  if (httpGet !== undefined) {
    const { scheme = 'HTTP', host = '', port = '', path = '' } = httpGet
    return `http-get ${scheme.toLowerCase()}://${host}:${port}${path}`
  }
  if (tcpSocket !== undefined) return `tcp-socket ${tcpSocket.host ?? ''}:${tcpSocket.port ?? ''}`
  return grpc === undefined ? 'unknown' : `grpc <pod>:${grpc.port} ${grpc.service ?? ''}`
}

function sourcesText({ envFrom = [] }: Container): string {
  if (envFrom.length === 0) return ''
  const texts = envFrom.map(({ prefix, configMapRef, secretRef }) => {
    const source = configMapRef ?? secretRef
    const type = configMapRef === undefined ? 'Secret' : 'ConfigMap'
    const sourceText = prefix ? `${type} with prefix '${prefix}'` : type
    return `      ${source?.name ?? ''}\t${sourceText}\tOptional: ${source?.optional ?? false}\n`
  })
  return `${lead}Environment Variables from:\n${texts.join('')}`
}

function environmentText(container: Container, pod: Pod | undefined): string {
  const { env = [] } = container
  if (env.length === 0) return `${lead}Environment:\t<none>\n`
  const texts = env.map(({ name, value, valueFrom }) => {
    return `      ${name}:\t${valueFrom === undefined ? (value ?? '') : valueSource(valueFrom, { container, pod })}\n`
  })
  return `${lead}Environment:\n${texts.join('')}`
}

type ValueSource = NonNullable<NonNullable<Container['env']>[number]['valueFrom']>

function valueSource(
  { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef }: ValueSource,
  { container, pod }: { readonly container: Container; readonly pod: Pod | undefined },
): string {
  if (configMapKeyRef !== undefined)
    return `<set to the key '${configMapKeyRef.key}' of config map '${configMapKeyRef.name}'>\tOptional: ${configMapKeyRef.optional ?? false}`
  if (secretKeyRef !== undefined)
    return `<set to the key '${secretKeyRef.key}' in secret '${secretKeyRef.name}'>\tOptional: ${secretKeyRef.optional ?? false}`
  if (fieldRef !== undefined)
    return `${fieldValue(fieldRef.fieldPath ?? '', pod)} (${fieldRef.apiVersion ?? 'v1'}:${fieldRef.fieldPath})`
  const { containerName, resource = '', divisor = '1' } = resourceFieldRef ?? {}
  const target = pod?.spec?.containers?.find(({ name }) => name === containerName) ?? container
  return `${resourceValue(target, { resource, divisor })} (${resource})`
}

/** Returns the value of a container's resource, such as `limits.cpu`, in units of the divisor and rounded up. */
function resourceValue({ resources }: Container, { resource, divisor }: { resource: string; divisor: string }): bigint {
  const [, side, name = ''] = /^(requests|limits)\.(.+)$/.exec(resource) ?? []
  const { [name]: amount = '0' } = (side === 'limits' ? resources?.limits : resources?.requests) ?? {}
  const total = parseQuantity(amount)?.nanos ?? 0n
  const unit = parseQuantity(divisor)?.nanos || parseQuantity('1')!.nanos
  return (total + unit - 1n) / unit
}

/**
 * Returns the value at a field path. Only metadata fields of pods are supported. For other fields and for pod
 * templates, the result is ''.
 */
function fieldValue(path: string, pod: Pod | undefined): string {
  if (pod === undefined) return ''
  const { name = '', namespace = '', uid = '', labels, annotations } = pod.metadata
  const texts = new Map([
    ['metadata.name', name],
    ['metadata.namespace', namespace],
    ['metadata.uid', uid],
  ])
  const [, which, key = ''] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? []
  if (which === undefined) return texts.get(path) ?? ''
  const marks = new Map(Object.entries((which === 'labels' ? labels : annotations) ?? {}))
  return marks.get(key) ?? ''
}

function mountsText({ volumeMounts = [] }: Container): string {
  if (volumeMounts.length === 0) return `${lead}Mounts:\t<none>\n`
  const sorted = volumeMounts.toSorted((a, b) => compareUtf8(a.mountPath ?? '', b.mountPath ?? ''))
  const texts = sorted.map(({ mountPath, name, readOnly, subPath }) => {
    const flags = `${readOnly ? 'ro' : 'rw'}${subPath ? `,path="${subPath}"` : ''}`
    return `      ${mountPath} from ${name} (${flags})\n`
  })
  return `${lead}Mounts:\n${texts.join('')}`
}
