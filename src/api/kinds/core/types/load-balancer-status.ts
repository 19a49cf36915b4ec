/**
 * LoadBalancerStatus: where a Service or an Ingress can be reached from outside, as the load balancer controller
 * reports.
 */
import { child, type FieldError, type FieldPath, invalid } from '../../../model/field-error.ts'
import { parseIp } from '../../../model/ip-range.ts'
import { checkDnsSubdomain } from '../../../model/names.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'

const portStatus = s.object(
  {
    port: field(1, s.int32(), { zero: 'write', doc: 'The number of the port.' }),
    protocol: field(2, s.string(), { zero: 'write', doc: 'TCP, UDP or SCTP.' }),
    error: field(3, s.string(), { zero: 'keep', doc: 'What is wrong with it, in one word for programs.' }),
  },
  { name: 'PortStatus', doc: 'How one port is doing.' },
)

const pointFields = {
  ip: field(1, s.string(), { doc: 'The address, where there is one.' }),
  hostname: field(2, s.string(), { doc: 'The host name, where that is what there is.' }),
  ports: field(4, s.list(portStatus), { doc: 'How its ports are doing.' }),
}

type Point = InferFields<typeof pointFields>

const point = s.object(pointFields, { name: 'LoadBalancerIngress', doc: 'A point to reach it at.', check: checkPoint })

export const loadBalancerStatus = s.object(
  { ingress: field(1, s.list(point), { doc: 'The points it can be reached at.' }) },
  { name: 'core.v1.LoadBalancerStatus', doc: 'Where something can be reached from outside.' },
)

function checkPoint({ ip = '', hostname = '' }: Point, path: FieldPath): FieldError[] {
  const isAddress = hostname !== '' && parseIp(hostname) !== undefined
  const place = child(path, 'hostname')
  return [
    ...(ip === '' || parseIp(ip)
      ? []
      : [invalid(child(path, 'ip'), ip, 'must be a valid IP address')]),
    ...(hostname === '' ? [] : checkDnsSubdomain(hostname)).map((fault) => invalid(place, hostname, fault)),
    ...(isAddress ? [invalid(place, hostname, 'must be a DNS name, not an IP address')] : []),
  ]
}
