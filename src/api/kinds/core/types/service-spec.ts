/** The fields of a Service, and what follows from its type. What they must be is in service-rules.ts. */

import type { ObjectOf } from '../../../schema/kind.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { mergedBy } from '../../list-keys.ts'
import { conditions } from '../../meta/condition.ts'
import { loadBalancerStatus } from './load-balancer-status.ts'

const port = s.object(
  {
    name: field(1, s.string(), { doc: 'Its name in this Service; needed where there are several ports.' }),
    protocol: field(2, s.oneOf('SCTP', 'TCP', 'UDP'), { default: 'TCP', doc: 'TCP, UDP or SCTP; TCP by default.' }),
    appProtocol: field(6, s.string(), {
      zero: 'keep',
      doc: 'What is spoken there: a name of a standard service, or one with a domain of your own.',
    }),
    port: field(3, s.int32(), { zero: 'write', published: 'required', doc: 'The port of the Service.' }),
    targetPort: field(4, s.intOrString(), {
      doc: 'The port of the pods, by number or by its name there; the same as `port` by default.',
    }),
    nodePort: field(5, s.int32(), {
      doc: 'The port of every node that leads here, for the types NodePort and LoadBalancer; the server chooses one if unset.',
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
      zero: 'keep',
      doc: 'How long a client without connections comes back to the same pod; at most 86400, three hours by default.',
    }),
  },
  { name: 'ClientIPConfig', doc: 'How clients are kept on a pod by their address.' },
)

const sessionAffinityConfig = s.object(
  { clientIP: field(1, clientIPConfig, { doc: 'For the affinity ClientIP.' }) },
  { name: 'SessionAffinityConfig', doc: 'How clients are kept on a pod.' },
)

const specFields = {
  ports: field(1, ports, { doc: 'The ports that it has.' }),
  selector: field(2, s.map(s.string(), { atomic: true }), {
    doc: 'The labels of the pods behind it. Without any, its Endpoints must be written by others.',
  }),
  clusterIP: field(3, s.string(), {
    doc: 'Its address in the cluster. The server chooses a free one; `None` for a Service that only has names.',
  }),
  clusterIPs: field(18, s.list(s.string()), {
    doc: 'All its addresses, at most one of each family. The first is clusterIP.',
  }),
  type: field(4, s.oneOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'), {
    default: 'ClusterIP',
    doc: 'Where it can be reached: in the cluster (ClusterIP), at a port of every node (NodePort), at a balancer outside (LoadBalancer); or another name for a host elsewhere (ExternalName).',
  }),
  externalIPs: field(5, s.list(s.string()), {
    doc: "Further addresses at which nodes take requests for it. That they get there is not the server's doing.",
  }),
  sessionAffinity: field(7, s.oneOf('ClientIP', 'None'), {
    default: 'None',
    doc: 'ClientIP keeps a client on the same pod; None does not.',
  }),
  loadBalancerIP: field(8, s.string(), { doc: 'The address that the balancer is to have, where it can be chosen.' }),
  loadBalancerSourceRanges: field(9, s.list(s.string()), {
    doc: 'The ranges of addresses that the balancer takes requests from; any by default.',
  }),
  externalName: field(10, s.string(), { doc: 'The host that an ExternalName stands for.' }),
  externalTrafficPolicy: field(11, s.oneOf('Cluster', 'Local'), {
    doc: 'Whether requests from outside go to any pod (Cluster) or to those on the node that they came to (Local).',
  }),
  healthCheckNodePort: field(12, s.int32(), {
    doc: 'The node port at which a load balancer checks whether the node has pods; for externalTrafficPolicy Local.',
  }),
  publishNotReadyAddresses: field(13, s.boolean(), { doc: 'Whether pods count that are not ready.' }),
  sessionAffinityConfig: field(14, sessionAffinityConfig, { doc: 'How clients are kept on a pod.' }),
  ipFamilies: field(19, s.list(s.string()), { doc: 'The families of its addresses: IPv4, IPv6, or both in order.' }),
  ipFamilyPolicy: field(17, s.string(), {
    zero: 'keep',
    doc: 'SingleStack: addresses of one family; PreferDualStack: of both where the cluster has both; RequireDualStack: of both.',
  }),
  allocateLoadBalancerNodePorts: field(20, s.boolean(), {
    zero: 'keep',
    doc: 'Whether a LoadBalancer gets ports of nodes; true by default.',
  }),
  loadBalancerClass: field(21, s.string(), {
    zero: 'keep',
    doc: "The load balancer implementation; the cluster's default if unset. It cannot change.",
  }),
  internalTrafficPolicy: field(22, s.oneOf('Cluster', 'Local'), {
    zero: 'keep',
    default: 'Cluster',
    doc: 'Whether requests from pods go to any pod (Cluster) or to those on the same node (Local).',
  }),
}

export type ServiceSpec = InferFields<typeof specFields>
export type ServicePort = NonNullable<ServiceSpec['ports']>[number]

const serviceSpec = s.object(specFields, {
  name: 'ServiceSpec',
  doc: 'Which pods answer, and where they can be reached.',
  fill: fillSpec,
  // Where no policy may be, which one it is does not matter.
  leavesUnjudged: (spec) => (isOnNodes(spec) ? [] : ['externalTrafficPolicy']),
})

const serviceStatus = s.object(
  {
    loadBalancer: field(1, loadBalancerStatus, { zero: 'write', doc: 'The balancer, where there is one.' }),
    conditions: field(2, conditions, { doc: 'What else is known of it.' }),
  },
  { name: 'ServiceStatus', doc: 'What has become of a Service.' },
)

export const serviceFields = {
  spec: field(2, serviceSpec, { zero: 'write', doc: 'Which pods answer, and where they can be reached.' }),
  status: field(3, serviceStatus, {
    zero: 'write',
    doc: 'The state of its load balancer. Set by the load balancer controller.',
  }),
}

export type Service = ObjectOf<typeof serviceFields>

const threeHours = 10800

function fillSpec(spec: ServiceSpec): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: threeHours } }
  if (isOnNodes(spec)) spec.externalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true
}

/** Whether it has addresses in the cluster, or at least names. */
export function isInCluster({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName'
}

/** Whether nodes take requests for it. */
export function isOnNodes({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** Whether every port is to have a port of nodes; else those have one that ask for it. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts = true }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts)
}

export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
}

/** Whether it has names and no address. */
export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None'
}
