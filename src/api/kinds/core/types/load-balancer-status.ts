/**
 * LoadBalancerStatus contains the external addresses of a Service or an Ingress, as reported by the load balancer
 * controller.
 */
import { child, type FieldError, type FieldPath, forbidden, invalid, notSupported } from '../../../model/field-error.ts'
import { parseIp } from '../../../model/ip-range.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import { ipWarnings } from '../../../model/strict-ip.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import type { Located } from './strict-values.ts'

const portFields = {
  port: field(1, s.int32(), { zeroValue: 'write', doc: 'Port number.' }),
  protocol: field(2, s.string(), { zeroValue: 'write', doc: 'Transport protocol of the port: TCP, UDP or SCTP.' }),
  error: field(3, s.string(), {
    zeroValue: 'keep',
    doc: 'Machine-readable reason why the port does not work, in CamelCase. Unset if the port works.',
  }),
}

const portStatus = s.object(portFields, { name: 'PortStatus', doc: 'Status of one load balancer port.' })

const pointFields = {
  ip: field(1, s.string(), {
    doc: 'IP address of the load balancer. Unset if the load balancer is reached by host name.',
  }),
  hostname: field(2, s.string(), {
    doc: 'Host name of the load balancer. Unset if the load balancer is reached by IP address.',
  }),
  ipMode: field(3, s.string(), {
    zeroValue: 'keep',
    since: '1.29',
    gate: 'LoadBalancerIPMode',
    doc: 'How the load balancer delivers traffic. With `VIP`, the destination address of the traffic is the IP address of the load balancer. With `Proxy`, it is the IP address of the node or the pod. Requires `ip`.',
  }),
  ports: field(4, s.list(portStatus), { doc: 'Status of each port of the load balancer.' }),
}

type Point = Pick<InferFields<typeof pointFields>, 'ip' | 'hostname'>
type ServicePoint = InferFields<typeof pointFields>

const point = s.object(pointFields, {
  name: 'LoadBalancerIngress',
  doc: 'An external address of a load balancer.',
  check: (value, path) => [...checkPoint(value, path), ...checkMode(value, child(path, 'ipMode'))],
})

export const loadBalancerStatus = s.object(
  { ingress: field(1, s.list(point), { doc: 'External addresses of the load balancer.' }) },
  { name: 'core.v1.LoadBalancerStatus', doc: 'Observed status of a load balancer.' },
)

const ingressPortStatus = s.object(portFields, {
  name: 'networking.v1.IngressPortStatus',
  doc: "Status of one port on an Ingress's load balancer.",
})

const { ip, hostname } = pointFields
const ingressPoint = s.object(
  { ip, hostname, ports: field(4, s.list(ingressPortStatus), { doc: 'Status of each port of the load balancer.' }) },
  {
    name: 'networking.v1.IngressLoadBalancerIngress',
    doc: "An external address of an Ingress's load balancer.",
    check: (value, path) => checkPoint(value, path),
  },
)

/** The load balancer status of an Ingress as published. It has been a separate type since 1.26. */
export const ingressLoadBalancerStatus = s.object(
  { ingress: field(1, s.list(ingressPoint), { doc: 'External addresses of the load balancer.' }) },
  { name: 'networking.v1.IngressLoadBalancerStatus', doc: "Observed status of an Ingress's load balancer." },
)

const ipModes = ['Proxy', 'VIP']

function checkMode({ ip = '', ipMode }: ServicePoint, path: FieldPath): FieldError[] {
  if (ipMode === undefined) return []
  if (ip === '') return [forbidden(path, 'may not be specified when `ip` is not set')]
  return ipModes.includes(ipMode) ? [] : [notSupported(path, ipMode, ipModes)]
}

interface Status {
  readonly ingress?: readonly Point[]
}

/** Returns the addresses of the load balancer, with their paths. */
export function balancerIps({ ingress = [] }: Status = {}): Located[] {
  return ingress.flatMap(({ ip = '' }, i): Located[] => {
    return ip === '' ? [] : [[`status.loadBalancer.ingress[${i}].ip`, ip]]
  })
}

/**
 * Returns warnings for addresses that are not in canonical form. Versions before 1.33 return no warnings. Each warning
 * contains the path of its ingress point.
 */
export function loadBalancerWarnings(status: Status | undefined, context: RuleContext): string[] {
  if (!isAtLeast(emulationOf(context).version, '1.33')) return []
  return balancerIps(status).flatMap(([path, ip]) => ipWarnings(path.replace(/\.ip$/, ''), ip))
}

function checkPoint({ ip = '', hostname = '' }: Point, path: FieldPath): FieldError[] {
  const isAddress = hostname !== '' && parseIp(hostname) !== undefined
  const place = child(path, 'hostname')
  return [
    ...(ip === '' || parseIp(ip) ? [] : [invalid(child(path, 'ip'), ip, 'must be a valid IP address')]),
    ...(hostname === '' ? [] : checkDnsSubdomain(hostname)).map((fault) => invalid(place, hostname, fault)),
    ...(isAddress ? [invalid(place, hostname, 'must be a DNS name, not an IP address')] : []),
  ]
}
