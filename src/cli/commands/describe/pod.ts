/** The description of a Pod, and of the template that others make pods from. */
import type { Pod } from '../../../kinds/core/pod.ts'
import { multiline } from './fields.ts'
import { conditionsText, head, pairsText, quantitiesText, timeText } from './parts.ts'

type PodSpec = NonNullable<Pod['spec']>
type Container = NonNullable<PodSpec['containers']>[number]
type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

export function describePod(pod: Pod): string {
  const { metadata, spec = {}, status = {} } = pod
  const node = spec.nodeName ? `${spec.nodeName}${status.hostIP ? `/${status.hostIP}` : ''}` : '<none>'
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return [
    head(pod).replace(
      /^Labels:/m,
      `Priority:\t${spec.priority ?? 0}\nService Account:\t${spec.serviceAccountName ?? ''}\nNode:\t${node}\nStart Time:\t${timeText(status.startTime)}\nLabels:`,
    ),
    `Status:\t${metadata.deletionTimestamp === undefined ? (status.phase ?? '') : 'Terminating'}\n`,
    status.reason ? `Reason:\t${status.reason}\n` : '',
    status.message ? `Message:\t${status.message}\n` : '',
    `IP:\t${status.podIP ?? ''}\n`,
    owner === undefined ? '' : `Controlled By:\t${owner.kind}/${owner.name}\n`,
    containersText('Init Containers', spec.initContainers, status.initContainerStatuses),
    containersText('Containers', spec.containers, status.containerStatuses),
    conditionsText(status.conditions),
    volumesText(spec),
    `QoS Class:\t${status.qosClass ?? '<unset>'}\n`,
    `Node-Selectors:\t${pairsText(spec.nodeSelector)}\n`,
    multiline('Tolerations', (spec.tolerations ?? []).map(tolerationText)),
  ].join('')
}

/** What pods are made from: of a Deployment, a Job and so on. */
export function podTemplateText(
  template: { metadata?: { labels?: { [key: string]: string } }; spec?: PodSpec } | undefined,
): string {
  const spec = template?.spec ?? {}
  return [
    `Pod Template:\n  Labels:\t${pairsText(template?.metadata?.labels)}\n`,
    spec.serviceAccountName ? `  Service Account:\t${spec.serviceAccountName}\n` : '',
    containersText('  Init Containers', spec.initContainers, undefined),
    containersText('  Containers', spec.containers, undefined),
    volumesText(spec, '  '),
  ].join('')
}

/** `title` may be indented: then so is what is below it, by one more, as kubectl does it. */
function containersText(
  title: string,
  containers: readonly Container[] | undefined,
  statuses: readonly ContainerStatus[] | undefined,
): string {
  if (containers === undefined || containers.length === 0) return ''
  const lead = title.startsWith(' ') ? '   ' : '  '
  const texts = containers.map((container) => {
    const status = statuses?.find(({ name }) => name === container.name)
    return `${lead}${container.name}:\n${containerText(container, status)}`
  })
  return `${title}:\n${texts.join('')}`
}

function containerText(container: Container, status: ContainerStatus | undefined): string {
  const ports = container.ports ?? []
  const noun = ports.length > 1 ? 'Ports' : 'Port'
  const lead = '    '
  return [
    status === undefined ? '' : `${lead}Container ID:\t${status.containerID ?? ''}\n`,
    `${lead}Image:\t${container.image ?? ''}\n`,
    status === undefined ? '' : `${lead}Image ID:\t${status.imageID ?? ''}\n`,
    `${lead}${noun}:\t${portsText(ports, 'containerPort')}\n${lead}Host ${noun}:\t${portsText(ports, 'hostPort')}\n`,
    wordsText('Command', container.command),
    wordsText('Args', container.args),
    status === undefined ? '' : stateText(status),
    quantitiesText('Limits', container.resources?.limits, lead),
    quantitiesText('Requests', container.resources?.requests, lead),
    environmentText(container),
    mountsText(container),
  ].join('')
}

function portsText(ports: NonNullable<Container['ports']>, field: 'containerPort' | 'hostPort'): string {
  if (ports.length === 0) return '<none>'
  return ports.map((port) => `${port[field] ?? 0}/${port.protocol}`).join(', ')
}

function wordsText(title: string, words: readonly string[] | undefined): string {
  if (words === undefined || words.length === 0) return ''
  return `    ${title}:\n${words.map((word) => `      ${word}\n`).join('')}`
}

function stateText({ state = {}, ready, restartCount }: ContainerStatus): string {
  const [name = 'waiting', detail = {}] = (Object.entries(state).find(([, value]) => value !== undefined) ?? []) as [
    string?,
    { reason?: string; exitCode?: number }?,
  ]
  const reason = detail.reason ? `      Reason:\t${detail.reason}\n` : ''
  const code = detail.exitCode === undefined ? '' : `      Exit Code:\t${detail.exitCode}\n`
  return `    State:\t${name[0]!.toUpperCase()}${name.slice(1)}\n${reason}${code}    Ready:\t${ready ? 'True' : 'False'}\n    Restart Count:\t${restartCount ?? 0}\n`
}

function environmentText({ env = [] }: Container): string {
  if (env.length === 0) return '    Environment:\t<none>\n'
  const lines = env.map(({ name, value, valueFrom }) => {
    const key = valueFrom?.configMapKeyRef ?? valueFrom?.secretKeyRef
    const from = valueFrom?.configMapKeyRef ? 'config map' : 'secret'
    const source =
      key === undefined
        ? ` (${valueFrom?.fieldRef?.fieldPath ?? valueFrom?.resourceFieldRef?.resource ?? ''})`
        : `<set to the key '${key.key}' in ${from} '${key.name}'>`
    return `      ${name}:\t${valueFrom === undefined ? (value ?? '') : source}\n`
  })
  return `    Environment:\n${lines.join('')}`
}

function mountsText({ volumeMounts = [] }: Container): string {
  if (volumeMounts.length === 0) return '    Mounts:\t<none>\n'
  return `    Mounts:\n${volumeMounts.map(({ mountPath, name, readOnly }) => `      ${mountPath} from ${name} (${readOnly ? 'ro' : 'rw'})\n`).join('')}`
}

function volumesText({ volumes = [] }: PodSpec, lead = ''): string {
  if (volumes.length === 0) return `${lead}Volumes:\t<none>\n`
  return `${lead}Volumes:\n${volumes.map((volume) => volumeText(volume, lead === '' ? '  ' : '   ')).join('')}`
}

function volumeText({ name, ...source }: NonNullable<PodSpec['volumes']>[number], lead: string): string {
  const [type = 'emptyDir', detail] = Object.entries(source).find(([, value]) => value !== undefined) ?? []
  const fields = Object.entries((detail ?? {}) as object).filter(([, value]) => typeof value !== 'object')
  const lines = fields.map(([key, value]) => `    ${titled(key)}:\t${value}\n`)
  return `${lead}${name}:\n    Type:\t${titled(type)}\n${lines.join('')}`
}

function titled(name: string): string {
  return `${name[0]!.toUpperCase()}${name.slice(1)}`
}

type Toleration = NonNullable<PodSpec['tolerations']>[number]

function tolerationText({ key = '', value, effect, operator, tolerationSeconds }: Toleration): string {
  const what = `${key}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`
  return `${what}${operator === 'Exists' ? ' op=Exists' : ''}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`
}
