/** Validation of Services, except for addresses (see service-addresses.ts). All errors are reported at once. */
import {
  at,
  child,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../model/field-error.ts'
import { checkReachableAddress } from '../../../model/ip-address.ts'
import { parseRange } from '../../../model/ip-range.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName, type NameCheck } from '../../../model/names.ts'
import { vendorKey } from '../../../model/vendor.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { checkLabels } from '../../../selectors/label-rules.ts'
import { isAtLeast } from '../../../versions/emulated-version.ts'
import { checkPort, checkPortNumber } from './handlers.ts'
import { balancerIps } from './load-balancer-status.ts'
import { checkAddresses } from './service-addresses.ts'
import {
  isHeadless,
  isInCluster,
  isOnNodes,
  needsHealthCheck,
  type Service,
  type ServicePort,
  type ServiceSpec,
  takesExternalTraffic,
} from './service-spec.ts'
import { type Located, strictIpFaults, strictRangeFaults } from './strict-values.ts'
import { checkTopologyAnnotations } from './topology-annotations.ts'

type Annotations = { readonly [key: string]: string }

export function checkService({ metadata, spec = {} }: Service, context: RuleContext): FieldError[] {
  const { vendor } = context
  const sourceRanges = vendorKey(vendor, 'load-balancer-source-ranges', 'service.beta')
  return [
    ...checkType(spec, vendor.nodeAgent),
    ...checkPorts(spec),
    ...checkLabels(spec.selector, 'spec.selector'),
    ...checkAffinity(spec),
    ...checkAddresses(spec),
    ...checkEach('spec.externalIPs', spec.externalIPs ?? [], checkReachableAddress),
    ...checkSourceRanges(spec, { annotations: metadata.annotations ?? {}, key: sourceRanges }, context),
    ...checkBalancer(spec),
    ...checkTraffic(spec, context),
    ...checkDistribution(spec, context),
    ...checkTopologyAnnotations(metadata, context),
  ]
}

function checkEach(path: string, values: readonly string[], check: NameCheck): FieldError[] {
  return values.flatMap((value, i) => check(value).map((text) => invalid(at(path, i), value, text)))
}

function checkType(spec: ServiceSpec, nodeAgent: string): FieldError[] {
  const { type = '', ports = [] } = spec
  const errors: FieldError[] = []
  if (ports.length === 0 && !isHeadless(spec) && isInCluster(spec)) errors.push(required('spec.ports'))
  if (isOnNodes(spec) && isHeadless(spec))
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`))
  if (type === 'ExternalName') errors.push(...checkExternalName(spec))
  if (type === 'LoadBalancer') errors.push(...checkAgentPort(ports, nodeAgent))
  if (type === 'ClusterIP')
    for (const [i, { nodePort = 0 }] of ports.entries())
      if (nodePort !== 0)
        errors.push(forbidden(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"))
  return errors
}

function checkExternalName({ externalName = '', ...spec }: ServiceSpec): FieldError[] {
  const host = externalName.replace(/\.$/, '')
  const unset = (['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const).filter(
    (name) => (spec[name]?.length ?? 0) > 0,
  )
  return [
    ...unset.map((name) => forbidden(`spec.${name}`, 'may not be set for ExternalName services')),
    ...(host === ''
      ? [required('spec.externalName')]
      : checkDnsSubdomain(host).map((text) => invalid('spec.externalName', host, text))),
  ]
}

/** Port on which node agents listen. */
const agentPort = 10250

/** Rejects the port of the node agent, because some load balancers would expose that port on every node. */
function checkAgentPort(ports: readonly ServicePort[], nodeAgent: string): FieldError[] {
  return [...ports.entries()]
    .filter(([, { port }]) => port === agentPort)
    .map(([i, { port }]) =>
      invalid(
        at('spec.ports', i),
        port,
        `may not expose port ${agentPort} externally since it is used by ${nodeAgent}`,
      ),
    )
}

function checkPorts({ ports = [] }: ServiceSpec): FieldError[] {
  const seenValues = { name: new Set<string>(), nodePort: new Set<string>(), port: new Set<string>() }
  /** Whether an earlier port has the same value in this field. */
  const repeats = (kind: keyof typeof seenValues, value: string) =>
    seenValues[kind].size === seenValues[kind].add(value).size
  return ports.flatMap((port, i) => {
    const path = at('spec.ports', i)
    const { name = '', protocol = '', nodePort = 0, port: number = 0 } = port
    const errors = checkOnePort(port, path)
    if (name === '' && ports.length > 1) errors.push(required(child(path, 'name')))
    if (name !== '' && repeats('name', name)) errors.push(duplicate(child(path, 'name'), name))
    if (nodePort !== 0 && repeats('nodePort', `${protocol}/${nodePort}`))
      errors.push(duplicate(child(path, 'nodePort'), nodePort))
    if (repeats('port', `${protocol}/${number}`)) errors.push(duplicate(path, { port: number, protocol }))
    return errors
  })
}

function checkOnePort({ name = '', port = 0, targetPort = 0, appProtocol }: ServicePort, path: string): FieldError[] {
  return [
    ...(name === '' ? [] : checkDnsLabel(name)).map((text) => invalid(child(path, 'name'), name, text)),
    ...checkPortNumber(port, child(path, 'port')),
    ...checkPort(targetPort, child(path, 'targetPort')),
    ...(appProtocol === undefined ? [] : checkQualifiedName(appProtocol)).map((text) =>
      invalid(child(path, 'appProtocol'), appProtocol, text),
    ),
  ]
}

/**
 * Requires all ports of a LoadBalancer Service to have the same protocol in versions before 1.24, which do not support
 * mixed protocols. A stored Service may keep mixed protocols.
 */
export function checkOneProtocol(
  next: ServiceSpec,
  previous: ServiceSpec | undefined,
  context: RuleContext,
): FieldError[] {
  if (emulationOf(context).gates.has('MixedProtocolLBService')) return []
  if (next.type !== 'LoadBalancer' || !hasSeveralProtocols(next)) return []
  if (previous !== undefined && hasSeveralProtocols(previous)) return []
  return [invalid('spec.ports', next.ports, "may not contain more than 1 protocol when `type` is 'LoadBalancer'")]
}

function hasSeveralProtocols({ ports = [] }: ServiceSpec): boolean {
  return new Set(ports.map(({ protocol }) => protocol)).size > 1
}

const maxAffinity = 86400

/**
 * Validates the timeout of the session affinity. Defaulting has already set the timeout if it is needed, and removed it
 * otherwise.
 */
function checkAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds
  if (sessionAffinity !== 'ClientIP' || seconds === undefined || (seconds > 0 && seconds <= maxAffinity)) return []
  const path = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds'
  return [invalid(path, seconds, `must be greater than 0 and less than ${maxAffinity}`)]
}

const onlyBalancers = "may only be used when `type` is 'LoadBalancer'"

/** Validates the ranges in the field, or else in the annotation that the field replaced. */
function checkSourceRanges(
  { type, loadBalancerSourceRanges: ranges = [] }: ServiceSpec,
  { annotations, key }: { readonly annotations: Annotations; readonly key: string },
  context: RuleContext,
): FieldError[] {
  const annotation = annotations[key]
  if (ranges.length === 0 && annotation === undefined) return []
  const path = ranges.length > 0 ? 'spec.LoadBalancerSourceRanges' : at('metadata.annotations', key)
  const texts = ranges.length > 0 ? ranges : (annotation ?? '').split(',')
  const none = ranges.length === 0 && (annotation ?? '').trim() === ''
  const rangesText = ranges.length > 0 ? `[${ranges.join(' ')}]` : annotation
  return [
    ...(type === 'LoadBalancer' ? [] : [forbidden(path, onlyBalancers)]),
    ...(none
      ? []
      : isAtLeast(emulationOf(context).version, '1.31') && ranges.length > 0
        ? checkEach(path, ranges, (text) => (isRange(text) ? [] : ['must be an IP range in CIDR notation']))
        : texts.every(isRange)
          ? []
          : [invalid(path, rangesText, 'must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24')]),
  ]
}

function isRange(text: string): boolean {
  return parseRange(text.trim()) !== undefined
}

/** Requires new addresses and ranges to be in canonical form. Values that the stored Service already has may remain. */
export function checkSpelling(next: Service, previous: Service | undefined, context: RuleContext): FieldError[] {
  return [
    ...strictIpFaults({ next: addressesOf(next), previous: previous && addressesOf(previous) }, context),
    ...strictRangeFaults({ next: rangesOf(next), previous: previous && rangesOf(previous) }, context),
  ]
}

function addressesOf({ spec = {} }: Service): Located[] {
  const clusterIPs = isHeadless(spec) || !isInCluster(spec) ? [] : (spec.clusterIPs ?? [])
  return [
    ...clusterIPs.map((ip, i): Located => [at('spec.clusterIPs', i), ip]),
    ...(spec.externalIPs ?? []).map((ip, i): Located => [at('spec.externalIPs', i), ip]),
  ]
}

function rangesOf({ spec = {} }: Service): Located[] {
  return (spec.loadBalancerSourceRanges ?? []).map((text, i) => [at('spec.LoadBalancerSourceRanges', i), text.trim()])
}

/**
 * Validates a status: only Services of type LoadBalancer may have addresses, unless the stored Service already has
 * some.
 */
export function checkBalancerStatus(next: Service, previous: Service, context: RuleContext): FieldError[] {
  const { gates, version } = emulationOf(context)
  const mayKeep = (previous.status?.loadBalancer?.ingress ?? []).length > 0
  const isAnyType = !isAtLeast(version, '1.29') || gates.has('AllowServiceLBStatusOnNonLB') || mayKeep
  const isForeign = next.spec?.type !== 'LoadBalancer' && (next.status?.loadBalancer?.ingress ?? []).length > 0
  if (isForeign && !isAnyType)
    return [forbidden('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")]
  return strictIpFaults(
    { next: balancerIps(next.status?.loadBalancer), previous: balancerIps(previous.status?.loadBalancer) },
    context,
  )
}

const sameTopology = ['PreferSameZone', 'PreferSameNode']

function checkDistribution({ trafficDistribution: value }: ServiceSpec, context: RuleContext): FieldError[] {
  if (value === undefined) return []
  const hasSame = emulationOf(context).gates.has('PreferSameTrafficDistribution')
  const values = ['PreferClose', ...(hasSame ? sameTopology : [])]
  return values.includes(value) ? [] : [notSupported('spec.trafficDistribution', value, values)]
}

function checkBalancer({ type, allocateLoadBalancerNodePorts, loadBalancerClass: name }: ServiceSpec): FieldError[] {
  const path = 'spec.loadBalancerClass'
  if (type === 'LoadBalancer')
    return name === undefined ? [] : checkQualifiedName(name).map((text) => invalid(path, name, text))
  return [
    ...(allocateLoadBalancerNodePorts === undefined
      ? []
      : [forbidden('spec.allocateLoadBalancerNodePorts', onlyBalancers)]),
    ...(name === undefined ? [] : [forbidden(path, onlyBalancers)]),
  ]
}

const healthPort = 'spec.healthCheckNodePort'

function checkTraffic(spec: ServiceSpec, context: RuleContext): FieldError[] {
  const { externalTrafficPolicy: policy, healthCheckNodePort: port = 0 } = spec
  return [
    ...(takesExternalTraffic(spec, context) ? [] : checkNoPolicy(policy)),
    ...(needsHealthCheck(spec) ? checkPortNumber(port, healthPort) : checkNoHealthPort(port)),
  ]
}

function checkNoPolicy(policy = ''): FieldError[] {
  return policy === ''
    ? []
    : [invalid('spec.externalTrafficPolicy', policy, 'may only be set for services that receive external traffic')]
}

function checkNoHealthPort(port: number): FieldError[] {
  const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
  return port === 0 ? [] : [invalid(healthPort, port, text)]
}
