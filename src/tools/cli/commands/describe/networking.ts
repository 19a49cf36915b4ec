/** Descriptions of services, endpoints, ingresses and network policies. */

import type { Endpoints } from '../../../../api/kinds/core/endpoints.ts'
import type { EndpointSlice } from '../../../../api/kinds/discovery/endpoint-slice.ts'
import type { Ingress } from '../../../../api/kinds/networking/ingress.ts'
import type { IngressClass } from '../../../../api/kinds/networking/ingress-class.ts'
import type { NetworkPolicy } from '../../../../api/kinds/networking/network-policy.ts'
import type { ApiObject, ObjectBase } from '../../../../api/model/object.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
import { isNotFound } from '../../../../client/requests/status-error.ts'
import type { Session } from '../../connection/session.ts'
import { head, lines, pairsText, selectorText, table } from './parts.ts'

/** The fields of a Service that its description shows. */
interface Service extends ApiObject {
  spec?: {
    selector?: { [key: string]: string }
    type?: string
    ipFamilyPolicy?: string
    ipFamilies?: string[]
    clusterIP?: string
    clusterIPs?: string[]
    externalIPs?: string[]
    sessionAffinity?: string
    externalName?: string
    externalTrafficPolicy?: string
    healthCheckNodePort?: number
    loadBalancerIP?: string
    loadBalancerSourceRanges?: string[]
    ports?: { name?: string; port?: number; protocol?: string; targetPort?: number | string; nodePort?: number }[]
  }
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } }
}

export async function describeService(service: Service, session: Session): Promise<string> {
  const spec = service.spec ?? {}
  const { namespace = '', name = '' } = service.metadata
  const reached = await ifThere(session, kinds.Endpoints, { namespace, name })
  const ports = (spec.ports ?? []).map(({ name = '<unset>', port, protocol, targetPort, nodePort }) =>
    lines({
      Port: `${name}\t${port}/${protocol}`,
      TargetPort: `${targetPort}/${protocol}`,
      NodePort: nodePort ? `${name}\t${nodePort}/${protocol}` : undefined,
      Endpoints: addressesOf(reached, name),
    }),
  )
  return [
    head(service),
    lines({
      Selector: pairsText(spec.selector),
      Type: spec.type ?? '',
      'IP Family Policy': spec.ipFamilyPolicy,
      'IP Families': spec.ipFamilyPolicy && (spec.ipFamilies ?? []).join(','),
      IP: spec.clusterIP ?? '',
      IPs: (spec.clusterIPs ?? []).join(',') || '<none>',
      'External IPs': spec.externalIPs?.join(',') || undefined,
      'Desired LoadBalancer IP': spec.loadBalancerIP || undefined,
      'External Name': spec.externalName || undefined,
      'LoadBalancer Ingress': balancersOf(service),
    }),
    ...ports,
    lines({
      'Session Affinity': spec.sessionAffinity ?? '',
      'External Traffic Policy': spec.externalTrafficPolicy || undefined,
      'HealthCheck NodePort': spec.healthCheckNodePort || undefined,
      'LoadBalancer Source Ranges': spec.loadBalancerSourceRanges?.join(',') || undefined,
    }),
  ].join('')
}

function balancersOf({ status }: Service): string | undefined {
  const all = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return all.join(', ') || undefined
}

async function ifThere<T extends ObjectBase>(
  { client, context }: Session,
  type: ResourceType<T>,
  name: { namespace: string; name: string },
): Promise<T | undefined> {
  return await client.get(type, name, { signal: context.signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined
    throw error
  })
}

/** Formats the first three endpoint addresses of a port. */
function addressesOf(endpointsObject: Endpoints | undefined, port: string): string {
  const all = (endpointsObject?.subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter(({ name = '<unset>' }) => name === port)
      .flatMap((each) => addresses.map(({ ip }) => `${ip}:${each.port}`)),
  )
  if (all.length === 0) return '<none>'
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',')
}

export function describeEndpoints(endpointsObject: Endpoints): string {
  const subsets = (endpointsObject.subsets ?? []).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const ipList = (list: readonly { ip?: string }[]) => list.map(({ ip }) => ip).join(',') || '<none>'
    const rows = ports.map(({ name = '<unset>', port, protocol = '' }) => [name, String(port), protocol])
    return [
      lines({ Addresses: ipList(addresses), NotReadyAddresses: ipList(notReadyAddresses) }, '  '),
      rows.length === 0 ? '' : `  Ports:\n${table(['Name', 'Port', 'Protocol'], rows, '    ')}\n`,
    ].join('')
  })
  return `${head(endpointsObject)}Subsets:\n${subsets.join('')}`
}

export function describeEndpointSlice(slice: EndpointSlice): string {
  const ports = (slice.ports ?? []).map(({ name = '', port, protocol = '' }) => [
    name || '<unset>',
    port === undefined ? '<all>' : String(port),
    protocol,
  ])
  return [
    head(slice),
    lines({ AddressType: slice.addressType ?? '' }),
    ports.length === 0 ? 'Ports:\t<unset>\n' : `Ports:\n${table(['Name', 'Port', 'Protocol'], ports)}`,
    'Endpoints:\n',
    ...(slice.endpoints ?? []).map(endpointText),
  ].join('')
}

function endpointText(endpoint: NonNullable<EndpointSlice['endpoints']>[number]): string {
  const { addresses = [], conditions, hostname, targetRef, nodeName, zone } = endpoint
  return [
    `  - Addresses:\t${addresses.join(',')}\n    Conditions:\n`,
    lines({ Ready: conditions?.ready ?? '<unset>' }, '      '),
    lines(
      {
        Hostname: hostname || '<unset>',
        TargetRef: targetRef && `${targetRef.kind}/${targetRef.name}`,
        NodeName: nodeName || '<unset>',
        Zone: zone || '<unset>',
      },
      '    ',
    ),
  ].join('')
}

type Backend = NonNullable<NonNullable<Ingress['spec']>['defaultBackend']>

export async function describeIngress(ingress: Ingress, session: Session): Promise<string> {
  const { spec = {}, status, metadata } = ingress
  const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  const backendText = (backend: Backend) => backendOf(session, metadata.namespace ?? '', backend)
  const rules = await Promise.all(
    (spec.rules ?? []).map(async ({ host, http }) => {
      const paths = await Promise.all(
        (http?.paths ?? []).map(async ({ path = '', backend = {} }) => `  \t${path}\t${await backendText(backend)}\n`),
      )
      return `  ${host || '*'}\t\t\n${paths.join('')}`
    }),
  )
  const tls = (spec.tls ?? []).map(({ secretName, hosts = [] }) =>
    secretName ? `  ${secretName} terminates ${hosts.join(',')}\n` : `  SNI routes ${hosts.join(',')}\n`,
  )
  return [
    head(ingress),
    lines({
      Address: addresses.join(','),
      'Ingress Class': spec.ingressClassName ?? '<none>',
      'Default backend': spec.defaultBackend === undefined ? '<default>' : await backendText(spec.defaultBackend),
    }),
    tls.length === 0 ? '' : `TLS:\n${tls.join('')}`,
    `Rules:\n${table(['Host', 'Path', 'Backends'], [])}${rules.join('')}`,
  ].join('')
}

/** Formats a backend as a service, its port and its endpoints, for example `web:80 (10.1.0.5:8080)`. */
async function backendOf(session: Session, namespace: string, { service, resource }: Backend): Promise<string> {
  if (service === undefined) {
    const { apiGroup = '', kind = '', name = '' } = resource ?? {}
    return `${apiGroup === '' ? '' : `APIGroup: ${apiGroup}, `}Kind: ${kind}, Name: ${name}`
  }
  const { name = '', port = {} } = service
  const [endpointsObject, reached] = await Promise.all([
    ifThere(session, kinds.Service, { namespace, name }),
    ifThere(session, kinds.Endpoints, { namespace, name }),
  ])
  const served = endpointsObject?.spec?.ports?.find((each) =>
    port.name ? each.name === port.name : each.port === port.number,
  )
  const problem = endpointsObject === undefined ? 'service not found' : served === undefined ? 'port not found' : ''
  const answers = problem === '' ? addressesOf(reached, served?.name ?? '<unset>') : `<${problem}>`
  return `${name}:${port.name || port.number} (${answers})`
}

export function describeIngressClass(ingressClass: IngressClass): string {
  const { controller = '', parameters } = ingressClass.spec ?? {}
  const { apiGroup, kind, name } = parameters ?? {}
  const parametersText =
    parameters === undefined ? '' : `Parameters:\n${lines({ APIGroup: apiGroup, Kind: kind, Name: name }, '  ')}`
  return `${head(ingressClass)}${lines({ Controller: controller })}${parametersText}`
}

type PolicySpec = NonNullable<NetworkPolicy['spec']>
type Peers = NonNullable<NonNullable<PolicySpec['ingress']>[number]['from']>
type Ports = NonNullable<NonNullable<PolicySpec['ingress']>[number]['ports']>

export function describeNetworkPolicy(policy: NetworkPolicy): string {
  const { podSelector, policyTypes = [], ingress = [], egress = [] } = policy.spec ?? {}
  const sides = {
    Ingress: ingress.map(({ from = [], ports = [] }) => ruleText('From', from, ports)),
    Egress: egress.map(({ to = [], ports = [] }) => ruleText('To', to, ports)),
  }
  const allowed = policyTypes.map((type) => {
    const rules = sides[type as keyof typeof sides] ?? []
    return `  Allowing ${type.toLowerCase()} traffic:\n${rules.length === 0 ? '    <none>\n' : rules.join('    ----------\n')}`
  })
  const applies = selectorText(podSelector)
  return [
    head(policy, lines({ 'Created on': createdOn(policy) })),
    `Spec:\n  PodSelector:     ${applies === '<none>' ? '<none> (all pods in the namespace)' : applies}\n`,
    ...allowed,
    `  Policy Types: ${policyTypes.join(', ')}\n`,
  ].join('')
}

const unrestricted = {
  From: 'traffic not restricted by source',
  To: 'traffic not restricted by destination',
}

/** Returns the creation time, such as `2024-01-02 15:04:05 +0000 UTC`. */
function createdOn({ metadata }: NetworkPolicy): string | undefined {
  return metadata.creationTimestamp?.replace('T', ' ').replace(/Z$/, ' +0000 UTC')
}

function ruleText(direction: 'From' | 'To', peers: Peers, ports: Ports): string {
  const at = ports.map(({ port, protocol }) => `    To Port: ${port ?? '<any>'}/${protocol ?? 'TCP'}\n`)
  const peerTexts = peers.map(({ podSelector, namespaceSelector, ipBlock }) => {
    const peerParts = [
      namespaceSelector && `      NamespaceSelector: ${selectorText(namespaceSelector)}\n`,
      podSelector && `      PodSelector: ${selectorText(podSelector)}\n`,
      ipBlock &&
        `      IPBlock:\n        CIDR: ${ipBlock.cidr}\n        Except: ${(ipBlock.except ?? []).join(', ')}\n`,
    ]
    return `    ${direction}:\n${peerParts.filter((text) => text !== undefined).join('')}`
  })
  return [
    ...(at.length === 0 ? ['    To Port: <any> (traffic allowed to all ports)\n'] : at),
    ...(peerTexts.length === 0 ? [`    ${direction}: <any> (${unrestricted[direction]})\n`] : peerTexts),
  ].join('')
}
