/** Describes Pods and pod templates. */

import type { Pod } from '../../../../api/kinds/core/pod.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { containersText } from './containers.ts'
import { multiline } from './fields.ts'
import { conditionsText, head, lines, pairsText, phaseText, selectorText, timeText } from './parts.ts'
import { volumesText } from './volumes.ts'

type PodSpec = NonNullable<Pod['spec']>

export function describePod(pod: Pod): string {
  const { metadata, spec = {}, status = {} } = pod
  const node = spec.nodeName ? `${spec.nodeName}/${status.hostIP ?? ''}` : '<none>'
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  const first = lines({
    Priority: spec.priority ?? 0,
    'Priority Class Name': spec.priorityClassName || undefined,
    'Runtime Class Name': spec.runtimeClassName || undefined,
    'Service Account': spec.serviceAccountName ?? '',
    Node: node,
    'Start Time': status.startTime && timeText(status.startTime),
  })
  return [
    head(pod, first),
    lines({
      Status: phaseText(pod, status.phase),
      Reason: status.reason || undefined,
      Message: status.message || undefined,
      IP: status.podIP ?? '',
    }),
    status.podIPs?.length ? `IPs:\n${status.podIPs.map(({ ip }) => `  IP:\t${ip}\n`).join('')}` : 'IPs:\t<none>\n',
    lines({
      'Controlled By': owner && `${owner.kind}/${owner.name}`,
      NominatedNodeName: status.nominatedNodeName || undefined,
    }),
    containersText('Init Containers', spec.initContainers, { statuses: status.initContainerStatuses, pod }),
    containersText('Containers', spec.containers, { statuses: status.containerStatuses, pod }),
    conditionsText(status.conditions),
    volumesText(spec.volumes),
    lines({ 'QoS Class': status.qosClass ?? '<unset>', 'Node-Selectors': pairsText(spec.nodeSelector) }),
    multiline('Tolerations', (spec.tolerations ?? []).map(tolerationText)),
    spreadConstraintsText(spec),
  ].join('')
}

/**
 * Formats spread constraints as kubectl does, sorted by key, for example `zone:DoNotSchedule when max skew 1 is
 * exceeded for selector app=web`.
 */
function spreadConstraintsText({ topologySpreadConstraints = [] }: PodSpec, indent = ''): string {
  const sorted = [...topologySpreadConstraints].sort((a, b) => compareUtf8(a.topologyKey ?? '', b.topologyKey ?? ''))
  const texts = sorted.map(({ topologyKey = '', whenUnsatisfiable = '', maxSkew = 0, labelSelector }) => {
    const selector = labelSelector === undefined ? '' : ` for selector ${selectorText(labelSelector)}`
    return `${topologyKey}:${whenUnsatisfiable} when max skew ${maxSkew} is exceeded${selector}`
  })
  return texts.length === 0 ? '' : multiline(`${indent}Topology Spread Constraints`, texts)
}

/**
 * Describes the pod template of a workload such as a Deployment or Job. Shows scheduling constraints only if they are
 * set.
 */
export function podTemplateText(
  template:
    | { metadata?: { labels?: { [key: string]: string }; annotations?: { [key: string]: string } }; spec?: PodSpec }
    | undefined,
): string {
  const spec = template?.spec ?? {}
  const labels = Object.entries(template?.metadata?.labels ?? {}).map(([key, value]) => `${key}=${value}`)
  const annotations = Object.entries(template?.metadata?.annotations ?? {}).map(([key, value]) => `${key}: ${value}`)
  const tolerations = (spec.tolerations ?? []).map(tolerationText)
  return [
    `Pod Template:\n${multiline('  Labels', labels)}`,
    annotations.length === 0 ? '' : multiline('  Annotations', annotations),
    lines({ 'Service Account': spec.serviceAccountName || undefined }, '  '),
    containersText('  Init Containers', spec.initContainers),
    containersText('  Containers', spec.containers),
    volumesText(spec.volumes, '  '),
    lines(
      {
        'Priority Class Name': spec.priorityClassName || undefined,
        'Node-Selectors': spec.nodeSelector && pairsText(spec.nodeSelector),
      },
      '  ',
    ),
    tolerations.length === 0 ? '' : multiline('  Tolerations', tolerations),
    spreadConstraintsText(spec, '  '),
  ].join('')
}

type Toleration = NonNullable<PodSpec['tolerations']>[number]

function tolerationText({ key = '', value, effect, operator, tolerationSeconds }: Toleration): string {
  const what = `${key}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`
  const exists = operator === 'Exists' ? `${what === '' ? '' : ' '}op=Exists` : ''
  return `${what}${exists}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds}s`}`
}
