import { isIPv6 } from 'node:net'
import { type Json, sameJson } from '../../../api/json/json.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { Service } from '../../../api/kinds/core/types/service-spec.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import { batched, fromInformer } from '../../../client/reconcile/sources.ts'
import { PodSelection } from '../selected-pods.ts'
import { hasEnded, isReady, isTerminating } from '../workloads/pod-state.ts'

/** Returns the annotation that old clients use for their leader-election record. */
export function electionKey({ keyDomain }: Vendor): string {
  return `control-plane.alpha.${keyDomain}/leader`
}

/**
 * Whether the endpoints of a Service are computed from its pods. False for Services whose Endpoints users manage, and
 * for the type ExternalName.
 */
export function hasPods({ spec }: Service): boolean {
  return spec?.type !== 'ExternalName' && Object.keys(spec?.selector ?? {}).length > 0
}

export function selectionOf(pods: Informer<Pod>, all: Informer<Service>): PodSelection<Service> {
  return new PodSelection(pods, all, (service) =>
    hasPods(service) ? { matchLabels: service.spec?.selector } : undefined,
  )
}

/**
 * Collects the pod changes that affect each Service. The delay grows with the number of pods, to bound the work per
 * second.
 */
export class PodChanges {
  readonly #podCounts = new Map<string, number>()
  readonly #minPauseMs: number

  constructor(minPauseMs: number) {
    this.#minPauseMs = minPauseMs
  }

  counted(key: string, pods: number): void {
    this.#podCounts.set(key, pods)
  }

  gone(key: string): void {
    this.#podCounts.delete(key)
  }

  /**
   * Returns how long to batch changes, in milliseconds: one millisecond per ten pods, up to one second, but at least
   * the configured minimum.
   */
  readonly pauseMs = (key: string): number =>
    Math.max(this.#minPauseMs, Math.min(1000, Math.floor((this.#podCounts.get(key) ?? 0) / 10)))

  /** Yields the keys of Services whose pods change in a way that affects their endpoints. */
  source(pods: Informer<Pod>, selection: PodSelection<Service>) {
    const source = fromInformer(pods, (change) =>
      shownAlike(change.previous, change.object) ? [] : selection.keysOf(change),
    )
    return batched(source, this.pauseMs)
  }
}

function shownAlike(a: Pod | undefined, b: Pod | undefined): boolean {
  return a !== undefined && b !== undefined && sameJson(endpointInputs(a), endpointInputs(b))
}

/** Returns all properties of a pod that affect its endpoint. */
function endpointInputs(pod: Pod): Json {
  const { metadata, spec = {}, status = {} } = pod
  return [
    ...[metadata.uid ?? '', metadata.labels ?? {}, metadata.deletionTimestamp ?? ''],
    ...[spec.nodeName ?? '', spec.hostname ?? '', spec.subdomain ?? ''],
    ...[hasEnded(pod), isReady(pod), addresses(status)],
  ]
}

function addresses({ podIP, podIPs = [] }: NonNullable<Pod['status']>): string[] {
  return podIPs.length > 0 ? podIPs.map(({ ip = '' }) => ip) : podIP ? [podIP] : []
}

/**
 * Whether a pod with an address belongs to the endpoints of its Service: it must not have terminated and, by default,
 * must not be terminating.
 */
export function counts(pod: Pod, { whileTerminating }: { readonly whileTerminating: boolean }): boolean {
  return !hasEnded(pod) && (whileTerminating || !isTerminating(pod))
}

export function addressOf({ status = {} }: Pod, family: string): string | undefined {
  return addresses(status).find((ip) => isIPv6(ip) === (family === 'IPv6'))
}

/** Returns the IP families of a Service, primary family first. */
export function familiesOf({ spec = {} }: Service): readonly string[] {
  const { ipFamilies = [], clusterIP = '' } = spec
  if (ipFamilies.length > 0) return ipFamilies
  return [isIPv6(clusterIP) ? 'IPv6' : 'IPv4']
}

export function isHeadless({ spec }: Service): boolean {
  return !spec?.clusterIP || spec.clusterIP === 'None'
}

export function headlessLabel(vendor: Vendor): string {
  return vendorKey(vendor, 'headless', 'service')
}

/** Returns the DNS hostname of a pod if the pod specifies this Service as its subdomain. */
export function hostnameOf({ spec }: Pod, { metadata }: Service): string | undefined {
  return spec?.hostname && spec.subdomain === metadata.name ? spec.hostname : undefined
}

export function targetOf({ metadata: { namespace = '', name = '', uid = '' } }: Pod) {
  return { kind: 'Pod', namespace, name, uid }
}

/** A Service port, resolved to the port number on a pod. */
export interface PodPort {
  readonly name: string
  readonly port: number
  readonly protocol: 'SCTP' | 'TCP' | 'UDP'
  readonly appProtocol?: string
}

/** Returns the ports of a Service for a pod. Omits named ports that the pod does not define. */
export function portsAt({ spec = {} }: Service, pod: Pod): PodPort[] {
  return (spec.ports ?? []).flatMap((each) => {
    const port = portNumber(each, pod)
    if (port === undefined) return []
    const { name = '', protocol = 'TCP', appProtocol } = each
    return [{ name, port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }]
  })
}

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

function portNumber({ targetPort, protocol = 'TCP' }: ServicePort, { spec }: Pod): number | undefined {
  if (typeof targetPort === 'number') return targetPort
  for (const { ports = [] } of spec?.containers ?? [])
    for (const each of ports)
      if (each.name === targetPort && (each.protocol ?? 'TCP') === protocol) return each.containerPort
  return undefined
}
