/** Tests rules for Services, endpoints and network kinds that later Kubernetes versions added or changed. */
import { vendorOf } from '../../../src/api/model/vendor.ts'
import { type Row, testRows } from '../../support/version-rows.ts'

const { groupDomain: group, keyDomain } = vendorOf('kubernetes')
const services = '/api/v1/namespaces/default/services'
const network = (plural: string) => `/apis/networking.${group}/v1/${plural}`
const inNamespace = (name: string, plural: string) => `/apis/${name}.${group}/v1/namespaces/default/${plural}`
const ports = [{ port: 80 }]
const service = (spec: object) => ({ path: services, body: { spec: { clusterIP: 'None', ports, ...spec } } })
const exposed = (spec: object = {}) =>
  service({ type: 'LoadBalancer', clusterIP: undefined, allocateLoadBalancerNodePorts: false, ...spec })
const balancer = (...ingress: object[]) => ({ status: { loadBalancer: { ingress } } })
const slice = (endpoint: object, addressType = 'IPv4') => ({
  path: inNamespace('discovery', 'endpointslices'),
  body: { addressType, endpoints: [{ addresses: ['10.1.2.3'], ...endpoint }], ports: [] },
})
const policy = (cidr: string) => ({
  path: inNamespace('networking', 'networkpolicies'),
  body: { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] } },
})
const backend = { service: { name: 's', port: { number: 80 } } }
const cidrs = (...ranges: string[]) => ({ path: network('servicecidrs'), body: { spec: { cidrs: ranges } } })
const address = (name: string, parentRef?: object) => ({
  path: network('ipaddresses'),
  body: { metadata: { name }, spec: { parentRef } },
})
const parent = { resource: 'services', namespace: 'default', name: 'x' }
const point = 'status.loadBalancer.ingress.0'

const newest: Row[] = [
  { name: 'traffic may stay in the zone', ...service({ trafficDistribution: 'PreferSameZone' }) },
  {
    name: 'a load balancer may have several protocols',
    ...exposed({
      ports: [
        { name: 'a', port: 53 },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
    }),
    shows: { 'spec.ports.1.protocol': 'UDP' },
  },
  { name: 'PreferClose is deprecated', ...service({ trafficDistribution: 'PreferClose' }), warnings: 1 },
  {
    name: 'other distributions are rejected',
    ...service({ trafficDistribution: '' }),
    causes: ['NotSupported spec.trafficDistribution'],
  },
  {
    name: 'an external name has no internal policy',
    ...service({ type: 'ExternalName', clusterIP: undefined, externalName: 'a.b', internalTrafficPolicy: 'Local' }),
    shows: { 'spec.internalTrafficPolicy': undefined },
  },
  {
    name: 'external addresses have a policy',
    ...service({ clusterIP: undefined, externalIPs: ['1.2.3.4'] }),
    warnings: 1,
    shows: { 'spec.externalTrafficPolicy': 'Cluster' },
  },
  {
    name: 'settings without effect on headless services warn',
    ...service({ externalIPs: ['1.2.3.4'], loadBalancerIP: '1.1.1.1', sessionAffinity: 'ClientIP' }),
    warnings: 3,
  },
  {
    name: 'leading zeros are rejected',
    ...service({ clusterIP: undefined, externalIPs: ['010.0.0.1'] }),
    causes: ['Invalid spec.externalIPs[0]'],
  },
  {
    name: 'IPv4 in IPv6 form is rejected',
    ...service({ clusterIP: undefined, externalIPs: ['::ffff:1.2.3.4'] }),
    causes: ['Invalid spec.externalIPs[0]'],
  },
  {
    name: 'ranges have no bits beyond the prefix',
    ...exposed({ loadBalancerSourceRanges: ['10.0.0.1/24'] }),
    causes: ['Invalid spec.LoadBalancerSourceRanges[0]'],
  },
  {
    name: 'each range has its own cause',
    ...exposed({ loadBalancerSourceRanges: ['10.0.0.0/24', 'x'] }),
    causes: ['Invalid spec.LoadBalancerSourceRanges[1]'],
  },
  {
    name: 'a name may start with a digit',
    path: services,
    body: { metadata: { name: '1abc' }, spec: { clusterIP: 'None', ports } },
  },
  {
    name: 'an address gets a mode',
    ...exposed(),
    patch: balancer({ ip: '1.2.3.4' }),
    subresource: '/status',
    shows: { [`${point}.ipMode`]: 'VIP' },
  },
  {
    name: 'a host name has no mode',
    ...exposed(),
    patch: balancer({ hostname: 'a.b', ipMode: 'VIP' }),
    subresource: '/status',
    causes: ['Forbidden status.loadBalancer.ingress[0].ipMode'],
  },
  {
    name: 'unknown modes are rejected',
    ...exposed(),
    patch: balancer({ ip: '1.2.3.4', ipMode: 'X' }),
    subresource: '/status',
    causes: ['NotSupported status.loadBalancer.ingress[0].ipMode'],
  },
  {
    name: 'only load balancers have addresses',
    ...service({}),
    patch: balancer({ ip: '1.2.3.4' }),
    subresource: '/status',
    causes: ['Forbidden status.loadBalancer.ingress'],
  },
  {
    name: 'addresses in a status are strict',
    ...exposed(),
    patch: balancer({ ip: '01.2.3.4' }),
    subresource: '/status',
    causes: ['Invalid status.loadBalancer.ingress[0].ip'],
  },
  { name: 'Endpoints are deprecated', path: '/api/v1/namespaces/default/endpoints', body: {}, warnings: 1 },
  {
    name: 'endpoint addresses are strict',
    path: '/api/v1/namespaces/default/endpoints',
    body: { subsets: [{ addresses: [{ ip: '010.1.2.3' }], ports }] },
    causes: ['Invalid subsets[0].addresses[0].ip'],
  },
  {
    name: 'addresses in slices are canonical',
    ...slice({ addresses: ['2001:0db8::1'] }, 'IPv6'),
    causes: ['Invalid endpoints[0].addresses[0]'],
  },
  { name: 'stored addresses stay valid', ...slice({}), patch: { metadata: { labels: { a: 'b' } } } },
  { name: 'endpoints by domain are deprecated', ...slice({ addresses: ['a.example'] }, 'FQDN'), warnings: 1 },
  {
    name: 'hints name each zone once',
    ...slice({ hints: { forZones: [{ name: 'a' }, { name: 'a' }] } }),
    causes: ['Duplicate endpoints[0].hints.forZones[1].name'],
  },
  {
    name: 'hints name nodes',
    ...slice({ hints: { forNodes: [{ name: 'A_b' }] } }),
    causes: ['Invalid endpoints[0].hints.forNodes[0].name'],
  },
  {
    name: 'hints are limited',
    ...slice({ hints: { forNodes: Array.from({ length: 9 }, (_, i) => ({ name: `n${i}` })) } }),
    causes: ['TooMany endpoints[0].hints.forNodes'],
  },
  {
    name: 'policy ranges are strict',
    ...policy('10.0.0.1/8'),
    causes: ['Invalid spec.ingress[0].from[0].ipBlock.cidr'],
  },
  { name: 'long spellings of ranges warn', ...policy('2001:0db8::/32'), warnings: 1 },
  {
    name: 'equal classes may be set twice',
    path: inNamespace('networking', 'ingresses'),
    body: {
      metadata: { name: 'twice', annotations: { [`${keyDomain}/ingress.class`]: 'c' } },
      spec: { ingressClassName: 'c', defaultBackend: backend },
    },
  },
  {
    name: 'a backend may start with a digit',
    path: inNamespace('networking', 'ingresses'),
    body: { spec: { defaultBackend: { service: { ...backend.service, name: '1s' } } } },
  },
  { name: 'a ServiceCIDR needs a range', ...cidrs(), causes: ['Required spec.cidrs'] },
  {
    name: 'a ServiceCIDR has one range per family',
    ...cidrs('203.0.113.0/24', '198.51.100.0/24'),
    causes: ['Invalid spec.cidrs'],
  },
  {
    name: 'two ranges of a ServiceCIDR are reported together',
    ...cidrs('203.0.113.0/24', 'x'),
    causes: ['Invalid spec.cidrs'],
  },
  { name: 'service ranges are canonical', ...cidrs('203.0.113.1/24'), causes: ['Invalid spec.cidrs[0]'] },
  {
    name: 'a range may be added',
    ...cidrs('203.0.113.0/24'),
    patch: { spec: { cidrs: ['203.0.113.0/24', '2001:db8::/112'] } },
  },
  {
    name: 'a range does not change',
    ...cidrs('203.0.113.0/24'),
    patch: { spec: { cidrs: ['198.51.100.0/24'] } },
    causes: ['Invalid spec.cidrs[0]'],
  },
  { name: 'an address has a canonical name', ...address('2001:0db8::1', parent), causes: ['Invalid metadata.name'] },
  { name: 'an address has a parent', ...address('192.0.2.1'), causes: ['Required spec.parentRef'] },
  {
    name: 'a parent has a name and a type',
    ...address('192.0.2.1', {}),
    causes: ['Required spec.parentRef.name', 'Required spec.parentRef.resource'],
  },
  {
    name: 'a parent does not change',
    ...address('192.0.2.2', parent),
    patch: { spec: { parentRef: { name: 'y' } } },
    causes: ['Invalid spec.parentRef'],
  },
]

const cluster: Row[] = [
  {
    name: 'pod ranges of a node are strict',
    path: '/api/v1/nodes',
    body: { spec: { podCIDRs: ['10.244.0.1/24'] } },
    causes: ['Invalid spec.podCIDRs[0]'],
  },
  { name: 'an external ID is deprecated', path: '/api/v1/nodes', body: { spec: { externalID: 'x' } }, warnings: 1 },
  {
    name: 'features of a node are sorted',
    path: '/api/v1/nodes',
    body: {},
    patch: { status: { declaredFeatures: ['B', 'A', 'a b'] } },
    subresource: '/status',
    causes: ['Invalid status.declaredFeatures[1]', 'Invalid status.declaredFeatures[2]'],
  },
  {
    name: 'a runtime class needs a handler',
    path: `/apis/node.${group}/v1/runtimeclasses`,
    body: {},
    causes: ['Required handler'],
  },
  {
    name: 'tolerations of a runtime class are reported once',
    path: `/apis/node.${group}/v1/runtimeclasses`,
    body: { handler: 'h', scheduling: { tolerations: [{ operator: 'Like', key: 'a' }] } },
    causes: ['NotSupported scheduling.tolerations[0].operator'],
  },
  {
    name: 'an address of the other family is reported for the list',
    ...slice({ addresses: ['2001:db8::1'] }),
    causes: ['Invalid endpoints[0].addresses'],
  },
  {
    name: 'an IPv4 address in IPv6 form is reported at its place',
    ...slice({ addresses: ['::ffff:10.0.0.1'] }, 'IPv6'),
    causes: ['Invalid endpoints[0].addresses[0]'],
  },
  {
    name: 'unchanged addresses are not validated again',
    ...slice({}),
    patch: { addressType: 'IPv6' },
    causes: ['Invalid addressType'],
  },
]

/** Rows for 1.34, in which strict validation of addresses is off. */
const lenient: Row[] = [
  {
    name: 'an IPv6 address of a slice is canonical',
    ...slice({ addresses: ['2001:0db8::1'] }, 'IPv6'),
    causes: ['Invalid endpoints[0].addresses[0]'],
  },
  { name: 'an IPv4 address of a slice warns', ...slice({ addresses: ['010.1.2.3'] }), warnings: 1 },
  {
    name: 'restricting pods to the Secrets of their account is deprecated',
    path: '/api/v1/namespaces/default/serviceaccounts',
    body: { metadata: { name: 'restricted', annotations: { [`${keyDomain}/enforce-mountable-secrets`]: 'true' } } },
    warnings: 1,
  },
]

/** Rows for 1.28, in which only node ports and load balancers have an external traffic policy. */
const oldest: Row[] = [
  {
    name: 'external addresses have no policy',
    ...service({ clusterIP: undefined, externalIPs: ['1.2.3.4'], externalTrafficPolicy: 'Local' }),
    causes: ['Invalid spec.externalTrafficPolicy'],
  },
  {
    name: 'spaces around a source range warn',
    ...exposed({ loadBalancerSourceRanges: [' 10.0.0.0/24 '] }),
    warnings: 1,
  },
]

const older: Row[] = [
  { name: 'traffic may stay close', ...service({ trafficDistribution: 'PreferClose' }) },
  {
    name: 'later distributions are rejected',
    ...service({ trafficDistribution: 'PreferSameZone' }),
    causes: ['NotSupported spec.trafficDistribution'],
  },
  { name: 'leading zeros warn', ...service({ clusterIP: undefined, externalIPs: ['010.0.0.1'] }), warnings: 1 },
  { name: 'Endpoints are current', path: '/api/v1/namespaces/default/endpoints', body: {} },
  {
    name: 'a name starts with a letter',
    path: services,
    body: { metadata: { name: '1abc' }, spec: { clusterIP: 'None', ports } },
    causes: ['Invalid metadata.name'],
  },
]

await testRows('1.36', [...newest, ...cluster])
await testRows('1.34', lenient)
await testRows('1.31', older)
await testRows('1.28', oldest)
