/**
 * Summaries of objects by kind: replicas, images, node, addresses, capacity. Each row consists of a label and a text.
 * Kinds without an entry here have rows that are common to many kinds, such as replicas and phase.
 */
import { isObject, type Json, type JsonObject } from '../../../../api/json/json.ts'
import { type ApiObject, asJson } from '../../../../api/model/object.ts'
import type { Type } from './kinds.ts'

export type SummaryRow = readonly [label: string, text: string]

/** The parts of a container that a page shows: its spec and its reported status. */
export interface ContainerSummary {
  readonly name: string
  readonly role: 'init' | 'main' | 'ephemeral'
  readonly image: string
  readonly state: string
  readonly isHealthy: boolean
  readonly restarts: number
}

type Describe = (object: JsonObject) => readonly (readonly [label: string, value: unknown])[]

/** Returns the rows of an object's summary. Rows without a value are omitted. */
export function summaryOf({ plural }: Type, object: ApiObject): readonly SummaryRow[] {
  const describe = Object.hasOwn(byPlural, plural) ? byPlural[plural]! : describeAny
  return describe(asJson(object)).flatMap(([label, value]) => {
    const text = textOfValue(value)
    return text === '' ? [] : [[label, text] as const]
  })
}

const byPlural: { readonly [plural: string]: Describe } = {
  pods: (pod) => [
    ['Phase', at(pod, 'status', 'phase')],
    ['Reason', at(pod, 'status', 'reason')],
    ['Message', at(pod, 'status', 'message')],
    ['Node', at(pod, 'spec', 'nodeName')],
    ['Addresses', listAt(pod, 'status', 'podIPs').map((each) => at(each, 'ip'))],
    ['Service account', at(pod, 'spec', 'serviceAccountName')],
    ['Quality of service', at(pod, 'status', 'qosClass')],
    ['Restart policy', at(pod, 'spec', 'restartPolicy')],
  ],
  deployments: (object) => [
    ['Replicas', replicas(object, ['updatedReplicas', 'updated'], ['availableReplicas', 'available'])],
    ['Images', templateImages(object)],
    ['Strategy', at(object, 'spec', 'strategy', 'type')],
    ['Selector', selectorText(at(object, 'spec', 'selector'))],
    ['Paused', at(object, 'spec', 'paused') === true ? 'yes' : undefined],
  ],
  statefulsets: (object) => [
    ['Replicas', replicas(object, ['readyReplicas', 'ready'], ['updatedReplicas', 'updated'])],
    ['Images', templateImages(object)],
    ['Service', at(object, 'spec', 'serviceName')],
    ['Selector', selectorText(at(object, 'spec', 'selector'))],
  ],
  replicasets: workload,
  replicationcontrollers: workload,
  daemonsets: (object) => [
    [
      'Pods',
      `${numberAt(object, 'status', 'desiredNumberScheduled')} desired, ${numberAt(object, 'status', 'numberReady')} ready, ${numberAt(object, 'status', 'updatedNumberScheduled')} updated`,
    ],
    ['Images', templateImages(object)],
    ['Selector', selectorText(at(object, 'spec', 'selector'))],
  ],
  jobs: (object) => [
    ['Completions', `${numberAt(object, 'status', 'succeeded')} of ${at(object, 'spec', 'completions') ?? 1}`],
    ['Pods', `${numberAt(object, 'status', 'active')} active, ${numberAt(object, 'status', 'failed')} failed`],
    ['Images', templateImages(object)],
    ['Started', at(object, 'status', 'startTime')],
    ['Completed', at(object, 'status', 'completionTime')],
  ],
  cronjobs: (object) => [
    ['Schedule', at(object, 'spec', 'schedule')],
    ['Suspended', at(object, 'spec', 'suspend') === true ? 'yes' : 'no'],
    ['Last scheduled', at(object, 'status', 'lastScheduleTime')],
    ['Active jobs', listAt(object, 'status', 'active').map((each) => at(each, 'name'))],
    ['Images', images(at(object, 'spec', 'jobTemplate', 'spec', 'template', 'spec'))],
  ],
  horizontalpodautoscalers: (object) => [
    ['Target', `${at(object, 'spec', 'scaleTargetRef', 'kind')}/${at(object, 'spec', 'scaleTargetRef', 'name')}`],
    ['Range', `${at(object, 'spec', 'minReplicas') ?? 1} to ${at(object, 'spec', 'maxReplicas')} replicas`],
    [
      'Replicas',
      `${numberAt(object, 'status', 'currentReplicas')} current, ${numberAt(object, 'status', 'desiredReplicas')} desired`,
    ],
  ],
  services: (object) => [
    ['Type', at(object, 'spec', 'type')],
    ['Cluster addresses', at(object, 'spec', 'clusterIPs')],
    ['External addresses', [...listAt(object, 'spec', 'externalIPs'), ...loadBalancerAddresses(object)]],
    ['External name', at(object, 'spec', 'externalName')],
    ['Ports', listAt(object, 'spec', 'ports').map(servicePort)],
    ['Selector', pairsText(at(object, 'spec', 'selector'))],
  ],
  ingresses: (object) => [
    ['Class', at(object, 'spec', 'ingressClassName')],
    ['Hosts', listAt(object, 'spec', 'rules').map((rule) => at(rule, 'host') ?? '*')],
    ['Addresses', loadBalancerAddresses(object)],
  ],
  endpoints: (object) => [
    ['Addresses', listAt(object, 'subsets').flatMap((subset) => listAt(subset, 'addresses').map((a) => at(a, 'ip')))],
  ],
  endpointslices: (object) => [
    ['Address type', at(object, 'addressType')],
    ['Addresses', listAt(object, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses'))],
    ['Ports', listAt(object, 'ports').map((port) => `${at(port, 'port')}/${at(port, 'protocol') ?? 'TCP'}`)],
  ],
  nodes: (object) => [
    ['Schedulable', at(object, 'spec', 'unschedulable') === true ? 'no, the node is cordoned' : 'yes'],
    ['Addresses', listAt(object, 'status', 'addresses').map((each) => `${at(each, 'address')} (${at(each, 'type')})`)],
    ['Capacity', pairsText(at(object, 'status', 'capacity'))],
    ['Version', at(object, 'status', 'nodeInfo', 'kubeletVersion')],
    ['Pod addresses', at(object, 'spec', 'podCIDRs')],
    ['Taints', listAt(object, 'spec', 'taints').map((taint) => `${at(taint, 'key')}:${at(taint, 'effect')}`)],
  ],
  persistentvolumeclaims: (object) => [
    ['Phase', at(object, 'status', 'phase')],
    ['Volume', at(object, 'spec', 'volumeName')],
    ['Capacity', at(object, 'status', 'capacity', 'storage') ?? at(object, 'spec', 'resources', 'requests', 'storage')],
    ['Storage class', at(object, 'spec', 'storageClassName')],
    ['Access modes', at(object, 'spec', 'accessModes')],
  ],
  persistentvolumes: (object) => [
    ['Phase', at(object, 'status', 'phase')],
    ['Claim', referenceText(at(object, 'spec', 'claimRef'))],
    ['Capacity', at(object, 'spec', 'capacity', 'storage')],
    ['Storage class', at(object, 'spec', 'storageClassName')],
    ['Access modes', at(object, 'spec', 'accessModes')],
    ['Reclaim policy', at(object, 'spec', 'persistentVolumeReclaimPolicy')],
  ],
  events: (object) => [
    ['Type', at(object, 'type')],
    ['Reason', at(object, 'reason')],
    ['Message', at(object, 'message') ?? at(object, 'note')],
    ['About', referenceText(at(object, 'involvedObject') ?? at(object, 'regarding'))],
    ['Last seen', at(object, 'lastTimestamp') ?? at(object, 'deprecatedLastTimestamp') ?? at(object, 'eventTime')],
    ['Count', at(object, 'count') ?? at(object, 'deprecatedCount')],
    ['Source', at(object, 'source', 'component') ?? at(object, 'reportingController')],
  ],
  secrets: (object) => [['Type', at(object, 'type')]],
}

/** Returns the init, main and ephemeral containers of a pod, in the order of its spec. */
export function containersOf(pod: ApiObject): readonly ContainerSummary[] {
  const object = asJson(pod)
  return [
    ...containerRows(object, 'init', ['initContainers', 'initContainerStatuses']),
    ...containerRows(object, 'main', ['containers', 'containerStatuses']),
    ...containerRows(object, 'ephemeral', ['ephemeralContainers', 'ephemeralContainerStatuses']),
  ]
}

function containerRows(
  pod: JsonObject,
  role: ContainerSummary['role'],
  [specs, statuses]: readonly [string, string],
): ContainerSummary[] {
  const byName = new Map(listAt(pod, 'status', statuses).map((status) => [at(status, 'name'), status]))
  return listAt(pod, 'spec', specs).map((container) => {
    const status = byName.get(at(container, 'name'))
    return {
      name: textOfValue(at(container, 'name')),
      role,
      image: textOfValue(at(container, 'image')),
      ...containerState(status, role),
      restarts: numberAt(status, 'restartCount'),
    }
  })
}

function containerState(status: Json | undefined, role: ContainerSummary['role']) {
  const state = at(status, 'state')
  const reason = (name: string, fallback: string) => textOfValue(at(state, name, 'reason')) || fallback
  if (at(state, 'running') !== undefined) {
    const isReady = at(status, 'ready') === true || role === 'ephemeral'
    return { state: isReady ? 'Running' : 'Running, not ready', isHealthy: isReady }
  }
  if (at(state, 'terminated') !== undefined) {
    const code = numberAt(state, 'terminated', 'exitCode')
    return { state: `${reason('terminated', 'Terminated')} (exit code ${code})`, isHealthy: code === 0 }
  }
  return { state: reason('waiting', 'Waiting'), isHealthy: false }
}

function workload(object: JsonObject): ReturnType<Describe> {
  return [
    ['Replicas', replicas(object, ['readyReplicas', 'ready'], ['availableReplicas', 'available'])],
    ['Images', templateImages(object)],
    ['Selector', selectorText(at(object, 'spec', 'selector'))],
  ]
}

/** Returns the summary rows for any kind, including custom resources: phase, replicas, images and others. */
function describeAny(object: JsonObject): ReturnType<Describe> {
  return [
    ['Phase', at(object, 'status', 'phase')],
    [
      'Replicas',
      at(object, 'spec', 'replicas') === undefined ? undefined : replicas(object, ['readyReplicas', 'ready']),
    ],
    ['Images', templateImages(object)],
    ['Message', at(object, 'status', 'message')],
  ]
}

function replicas(object: JsonObject, ...counts: readonly (readonly [field: string, word: string])[]): string {
  const desired = `${at(object, 'spec', 'replicas') ?? 1} desired`
  return [desired, ...counts.map(([field, word]) => `${numberAt(object, 'status', field)} ${word}`)].join(', ')
}

function templateImages(object: JsonObject): readonly unknown[] {
  return images(at(object, 'spec', 'template', 'spec'))
}

function images(podSpec: Json | undefined): readonly unknown[] {
  return [...listAt(podSpec, 'initContainers'), ...listAt(podSpec, 'containers')].map((each) => at(each, 'image'))
}

function servicePort(port: Json): string {
  const nodePort = at(port, 'nodePort')
  const opened = nodePort === undefined ? '' : `, node port ${textOfValue(nodePort)}`
  return `${textOfValue(at(port, 'port'))}/${textOfValue(at(port, 'protocol')) || 'TCP'} to ${textOfValue(at(port, 'targetPort') ?? at(port, 'port'))}${opened}`
}

function loadBalancerAddresses(object: JsonObject): readonly unknown[] {
  return listAt(object, 'status', 'loadBalancer', 'ingress').map((each) => at(each, 'ip') ?? at(each, 'hostname'))
}

/** Formats a label selector. Shows only the number of expressions, because the YAML tab shows them in full. */
function selectorText(selector: Json | undefined): string {
  const labels = isObject(at(selector, 'matchLabels')) ? at(selector, 'matchLabels') : undefined
  const expressions = listAt(selector, 'matchExpressions').length
  const isPlain = labels === undefined && expressions === 0
  const text = pairsText(isPlain ? selector : labels)
  return expressions === 0 ? text : [text, `${expressions} expressions`].filter((each) => each !== '').join(', ')
}

function pairsText(pairs: Json | undefined): string {
  if (!isObject(pairs)) return ''
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${textOfValue(value)}`)
    .join(', ')
}

function referenceText(reference: Json | undefined): string {
  if (!isObject(reference)) return ''
  const parts = [at(reference, 'kind'), at(reference, 'namespace'), at(reference, 'name')]
  return parts
    .map(textOfValue)
    .filter((each) => each !== '')
    .join('/')
}

/** Returns the value at a path, or undefined if there is no such value. */
function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value
  for (const key of path) {
    if (!isObject(current) || !Object.hasOwn(current, key)) return undefined
    current = current[key]
  }
  return current ?? undefined
}

function listAt(value: Json | undefined, ...path: readonly string[]): readonly Json[] {
  const list = at(value, ...path)
  return Array.isArray(list) ? list : []
}

function numberAt(value: Json | undefined, ...path: readonly string[]): number {
  const number = at(value, ...path)
  return typeof number === 'number' ? number : 0
}

function textOfValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOfValue).join(', ')
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value)
}
