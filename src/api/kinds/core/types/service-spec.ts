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
      doc: 'Name of the port, unique within the Service. Must be a DNS label. Required if there is more than one port.',
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
      doc: 'Number or name of the port on the pods. Defaults to the value of `port`.',
    }),
    nodePort: field(5, s.int32(), {
      doc: 'Port to open on every node, for Services of type NodePort or LoadBalancer. If unset, the server allocates a port.',
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
      doc: 'Number of seconds of inactivity, from 1 to 86400, after which requests from a client may go to a different pod. Defaults to 10800.',
    }),
  },
  { name: 'ClientIPConfig', doc: "Settings for session affinity that is based on the client's IP address." },
)

const sessionAffinityConfig = s.object(
  { clientIP: field(1, clientIPConfig, { doc: 'Settings for session affinity of type `ClientIP`.' }) },
  { name: 'SessionAffinityConfig', doc: 'Settings for session affinity.' },
)

const specFields = {
  ports: field(1, ports, {
    doc: 'Ports of the Service. At least one is required unless the Service is headless or of type ExternalName.',
  }),
  selector: field(2, s.map(s.string(), { atomic: true }), {
    doc: "Label selector for the pods behind the Service. If unset, the Service's Endpoints are managed externally.",
  }),
  clusterIP: field(3, s.string(), {
    doc: 'Cluster IP address of the Service. If unset, the server allocates an address. `None` makes the Service headless.',
  }),
  clusterIPs: field(18, s.list(s.string()), {
    doc: 'Cluster IP addresses of the Service. At most one address per IP family. The first entry equals `clusterIP`.',
  }),
  type: field(4, s.oneOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'), {
    default: 'ClusterIP',
    doc: 'How the Service is exposed: at a cluster IP (`ClusterIP`), on a port of every node (`NodePort`), through a load balancer (`LoadBalancer`), or as an alias for a host name (`ExternalName`). Defaults to `ClusterIP`.',
  }),
  externalIPs: field(5, s.list(s.string()), {
    doc: 'Additional IP addresses at which nodes accept traffic for the Service. Administrators must route these addresses to the nodes.',
  }),
  sessionAffinity: field(7, s.oneOf('ClientIP', 'None'), {
    default: 'None',
    doc: 'Whether all requests from a client go to the same pod (`ClientIP`) or not (`None`). Defaults to `None`.',
  }),
  loadBalancerIP: field(8, s.string(), {
    doc: 'Requested IP address of the load balancer. Ignored if the cloud provider does not support such requests.',
  }),
  loadBalancerSourceRanges: field(9, s.list(s.string()), {
    doc: 'IP address ranges, in CIDR notation, of the clients that may use the load balancer. If unset, all clients may use the load balancer.',
  }),
  externalName: field(10, s.string(), { doc: 'Host name to which a Service of type `ExternalName` refers.' }),
  externalTrafficPolicy: field(11, s.oneOf('Cluster', 'Local'), {
    doc: 'Where external traffic is routed: to any pod (`Cluster`), or only to pods on the node that receives the traffic (`Local`). Defaults to `Cluster`.',
  }),
  healthCheckNodePort: field(12, s.int32(), {
    doc: 'Node port for health checks, used if `externalTrafficPolicy` is `Local`. If unset, the server allocates a port.',
  }),
  publishNotReadyAddresses: field(13, s.boolean(), {
    doc: 'Whether to publish the addresses of pods that are not ready. Defaults to false.',
  }),
  sessionAffinityConfig: field(14, sessionAffinityConfig, {
    doc: 'Settings for session affinity, such as the timeout.',
  }),
  ipFamilies: field(19, s.list(s.string()), {
    doc: "IP families of the Service's addresses: `IPv4`, `IPv6` or both. The first entry is the primary family.",
  }),
  ipFamilyPolicy: field(17, s.string(), {
    zeroValue: 'keep',
    doc: 'Whether the Service has one IP family (`SingleStack`), two if the cluster supports both (`PreferDualStack`), or always two (`RequireDualStack`).',
  }),
  allocateLoadBalancerNodePorts: field(20, s.boolean(), {
    zeroValue: 'keep',
    doc: 'Whether a Service of type LoadBalancer gets node ports. Defaults to true.',
  }),
  loadBalancerClass: field(21, s.string(), {
    zeroValue: 'keep',
    doc: "Name of the load balancer implementation. If unset, the cluster's default implementation is used. Immutable.",
  }),
  internalTrafficPolicy: field(22, s.oneOf('Cluster', 'Local'), {
    zeroValue: 'keep',
    doc: 'Where traffic from pods is routed: to any pod (`Cluster`), or only to pods on the same node (`Local`). Defaults to `Cluster`.',
  }),
  trafficDistribution: field(23, s.string(), {
    zeroValue: 'keep',
    since: '1.30',
    gate: 'ServiceTrafficDistribution',
    doc: 'Preference for distributing traffic among endpoints, such as `PreferClose` or `PreferSameZone`. If unset, traffic may go to any endpoint.',
  }),
}

export type ServiceSpec = InferFields<typeof specFields>
export type ServicePort = NonNullable<ServiceSpec['ports']>[number]

const serviceSpec = s.object(specFields, {
  name: 'ServiceSpec',
  doc: 'Specification of a Service.',
  fill: fillSpec,
  // Skip the validation of `externalTrafficPolicy` where the field is not allowed at all, because another rule rejects
  // it.
  fieldsToSkip: (spec) => (isOnNodes(spec) || (spec.externalIPs ?? []).length > 0 ? [] : ['externalTrafficPolicy']),
})

const serviceStatus = s.object(
  {
    loadBalancer: field(1, loadBalancerStatus, {
      zeroValue: 'write',
      doc: 'Observed status of the load balancer. Set only for Services of type LoadBalancer.',
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

/** Sets the default internal traffic policy. Since 1.24, Services of type ExternalName have no such policy. */
function fillInternalPolicy(spec: ServiceSpec, context: RuleContext): void {
  if (isInCluster(spec) || !isAtLeast(emulationOf(context).version, '1.24')) spec.internalTrafficPolicy ??= 'Cluster'
  else delete spec.internalTrafficPolicy
}

/** Whether the Service receives traffic from outside. Since 1.26, external addresses also count. */
export function takesExternalTraffic(spec: ServiceSpec, context: RuleContext): boolean {
  if (isOnNodes(spec)) return true
  const { type, externalIPs = [] } = spec
  return type === 'ClusterIP' && externalIPs.length > 0 && isAtLeast(emulationOf(context).version, '1.29')
}

/** Whether the Service is implemented in the cluster, as opposed to being an alias for an external host name. */
export function isInCluster({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName'
}

/** Whether Services of this type are reachable through node ports. */
export function isOnNodes({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** Whether every port needs a node port. Otherwise only ports with an explicit request have a node port. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts)
}

export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
}

/** Whether the Service is headless. A headless Service has DNS names but no address. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None'
}
