/** Fields of a Service, and properties that follow from its type. Validation is in service-rules.ts. */

import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import type { ObjectOf } from '../../../schema/kind.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { mergedBy } from '../../list-keys.ts'
import { conditions } from '../../meta/condition.ts'
import { loadBalancerStatus } from './load-balancer-status.ts'

const port = s.object(
  {
    name: field(1, s.string(), {
      doc: 'Name of the port, unique in the Service. Must be a DNS label. Required if there is more than one port.',
    }),
    protocol: field(2, s.oneOf('SCTP', 'TCP', 'UDP'), {
      default: 'TCP',
      publishDefaultSince: '1.24',
      doc: 'Transport protocol: TCP, UDP or SCTP. Defaults to TCP.',
    }),
    appProtocol: field(6, s.string(), {
      zeroValue: 'keep',
      doc: 'Application protocol of the port: a standard service name such as `http`, or a name with a domain prefix.',
    }),
    port: field(3, s.int32(), {
      zeroValue: 'write',
      published: 'required',
      doc: 'Port number of the Service, from 1 to 65535.',
    }),
    targetPort: field(4, s.intOrString(), {
      doc: 'Port number or port name in the pods. Defaults to the value of port.',
    }),
    nodePort: field(5, s.int32(), {
      doc: 'Port on every node for types NodePort and LoadBalancer. If unset, the server allocates a port.',
    }),
  },
  {
    name: 'ServicePort',
    doc: 'A port of a Service.',
    fill: (value) => {
      if (!value.targetPort) value.targetPort = value.port ?? 0
    },
  },
)

const ports = s.list(port, mergedBy('port', 'protocol'))

const clientIPConfig = s.object(
  {
    timeoutSeconds: field(1, s.int32(), {
      zeroValue: 'keep',
      doc: 'Idle seconds after which a client may be sent to another pod, from 1 to 86400. Defaults to 10800.',
    }),
  },
  { name: 'ClientIPConfig', doc: 'Settings for session affinity by client IP.' },
)

const sessionAffinityConfig = s.object(
  { clientIP: field(1, clientIPConfig, { doc: 'Settings for ClientIP session affinity.' }) },
  { name: 'SessionAffinityConfig', doc: 'Settings for session affinity.' },
)

const specFields = {
  ports: field(1, ports, {
    doc: 'Ports of the Service. At least one is required unless the Service is headless or of type ExternalName.',
  }),
  selector: field(2, s.map(s.string(), { atomic: true }), {
    doc: 'Label selector for the pods behind the Service. Without a selector, its Endpoints are managed externally.',
  }),
  clusterIP: field(3, s.string(), {
    doc: 'Cluster IP address. If unset, the server allocates an address. `None` makes the Service headless.',
  }),
  clusterIPs: field(18, s.list(s.string()), {
    doc: 'IP addresses of the Service, at most one per IP family. The first entry equals clusterIP.',
  }),
  type: field(4, s.oneOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'), {
    default: 'ClusterIP',
    doc: 'How the Service is exposed: ClusterIP (in the cluster), NodePort (on every node), LoadBalancer, or ExternalName (alias for a host name). Defaults to ClusterIP.',
  }),
  externalIPs: field(5, s.list(s.string()), {
    doc: 'Additional IP addresses at which nodes accept traffic. Administrators must route them to the nodes.',
  }),
  sessionAffinity: field(7, s.oneOf('ClientIP', 'None'), {
    default: 'None',
    doc: 'Session affinity: ClientIP sends all requests from a client to the same pod, None does not. Defaults to None.',
  }),
  loadBalancerIP: field(8, s.string(), {
    doc: 'Requested IP address of the load balancer, if the provider supports the choice.',
  }),
  loadBalancerSourceRanges: field(9, s.list(s.string()), {
    doc: 'Client address ranges in CIDR notation that may use the load balancer. Unset means all.',
  }),
  externalName: field(10, s.string(), { doc: 'Host name for which a Service of type ExternalName is an alias.' }),
  externalTrafficPolicy: field(11, s.oneOf('Cluster', 'Local'), {
    doc: 'Routing of external traffic: Cluster (any pod) or Local (pods on the receiving node). Defaults to Cluster.',
  }),
  healthCheckNodePort: field(12, s.int32(), {
    doc: 'Node port for health checks with externalTrafficPolicy Local. If unset, the server allocates a port.',
  }),
  publishNotReadyAddresses: field(13, s.boolean(), {
    doc: 'Whether to publish the addresses of pods that are not ready. Defaults to false.',
  }),
  sessionAffinityConfig: field(14, sessionAffinityConfig, {
    doc: 'Settings for session affinity, such as its timeout.',
  }),
  ipFamilies: field(19, s.list(s.string()), {
    doc: 'IP families of the addresses, in order of preference: IPv4, IPv6 or both.',
  }),
  ipFamilyPolicy: field(17, s.string(), {
    zeroValue: 'keep',
    doc: 'IP family policy: SingleStack, PreferDualStack (both families if the cluster has both) or RequireDualStack.',
  }),
  allocateLoadBalancerNodePorts: field(20, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether a Service of type LoadBalancer gets node ports. Defaults to true.',
  }),
  loadBalancerClass: field(21, s.string(), {
    zeroValue: 'keep',
    doc: "Name of the load balancer implementation. Unset means the cluster's default. Immutable.",
  }),
  internalTrafficPolicy: field(22, s.oneOf('Cluster', 'Local'), {
    zeroValue: 'keep',
    doc: 'Routing of traffic from pods: Cluster (any pod) or Local (pods on the same node). Defaults to Cluster.',
  }),
  trafficDistribution: field(23, s.string(), {
    zeroValue: 'keep',
    since: '1.30',
    gate: 'ServiceTrafficDistribution',
    doc: 'Preferred endpoints, such as PreferClose or PreferSameZone. Unset means any endpoint.',
  }),
}

export type ServiceSpec = InferFields<typeof specFields>
export type ServicePort = NonNullable<ServiceSpec['ports']>[number]

const serviceSpec = s.object(specFields, {
  name: 'ServiceSpec',
  doc: 'Specification of a Service.',
  fill: fillSpec,
  // If the type allows no policy, its value is not validated further.
  leavesUnjudged: (spec) => (isOnNodes(spec) || (spec.externalIPs ?? []).length > 0 ? [] : ['externalTrafficPolicy']),
})

const serviceStatus = s.object(
  {
    loadBalancer: field(1, loadBalancerStatus, {
      zeroValue: 'write',
      doc: 'Observed status of the load balancer, for type LoadBalancer.',
    }),
    conditions: field(2, conditions, { doc: 'Conditions of the Service.' }),
  },
  { name: 'ServiceStatus', doc: 'Observed status of a Service.' },
)

export const serviceFields = {
  spec: field(2, serviceSpec, { zeroValue: 'write', doc: 'Ports, selector and exposure of the Service.' }),
  status: field(3, serviceStatus, {
    zeroValue: 'write',
    doc: 'Observed status, set by the load balancer controller.',
  }),
}

export type Service = ObjectOf<typeof serviceFields>

const threeHours = 10800

function fillSpec(spec: ServiceSpec, context: RuleContext): void {
  fillInternalPolicy(spec, context)
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: threeHours } }
  if (takesExternalTraffic(spec, context)) spec.externalTrafficPolicy ||= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
}

/** Since 1.24, Services of type ExternalName have no internal traffic policy. */
function fillInternalPolicy(spec: ServiceSpec, context: RuleContext): void {
  if (isInCluster(spec) || !isAtLeast(emulationOf(context).version, '1.24')) spec.internalTrafficPolicy ??= 'Cluster'
  else delete spec.internalTrafficPolicy
}

/** Whether the Service receives traffic from outside. Since 1.26, external addresses count too. */
export function takesExternalTraffic(spec: ServiceSpec, context: RuleContext): boolean {
  if (isOnNodes(spec)) return true
  const { type, externalIPs = [] } = spec
  return type === 'ClusterIP' && externalIPs.length > 0 && isAtLeast(emulationOf(context).version, '1.29')
}

/** Whether the Service belongs to the cluster, as opposed to an external host name. */
export function isInCluster({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName'
}

/** Whether the Service is exposed on nodes. */
export function isOnNodes({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** Whether every port needs a node port. Otherwise only ports that request one have one. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts)
}

export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
}

/** Whether the Service is headless: it has DNS names but no address. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None'
}
