/** Warnings about valid Services that are probably mistakes or that use deprecated features. */

import { ipWarnings, rangeWarnings } from '../../../model/strict-ip.ts'
import { emulationOf, type RuleContext } from '../../../schema/context.ts'
import { type EmulatedVersion, isAtLeast } from '../../../versions/emulated-version.ts'
import { isHeadless, isInCluster, type Service, type ServiceSpec } from './service-spec.ts'
import { topologyAnnotations } from './topology-annotations.ts'

/** Returns the warnings for a Service. Versions before 1.26 return no warnings. */
export function serviceWarnings(service: Service, _: Service | undefined, context: RuleContext): string[] {
  const { version } = emulationOf(context)
  const { metadata, spec = {} } = service
  if (!isAtLeast(version, '1.26')) return []
  const { hints, mode } = topologyAnnotations(context)
  return [
    ...(isAtLeast(version, '1.27') && Object.hasOwn(metadata.annotations ?? {}, hints)
      ? [`annotation ${hints} is deprecated; use ${mode} instead`]
      : []),
    ...addressWarnings(spec, version),
    ...(isHeadless(spec) && isAtLeast(version, '1.32') ? headlessWarnings(spec) : []),
    ...externalWarnings(spec, context),
    ...(spec.trafficDistribution === 'PreferClose' && isAtLeast(version, '1.35')
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone" instead']
      : []),
  ]
}

/** Returns the warnings about addresses. Before 1.33, spaces around a source range cause a warning. */
function addressWarnings(spec: ServiceSpec, version: EmulatedVersion): string[] {
  const isAllocated = isInCluster(spec) && !isHeadless(spec)
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges: ranges = [] } = spec
  return [
    ...(isAllocated ? clusterIPs : []).flatMap((ip, i) => ipWarnings(`spec.clusterIPs[${i}]`, ip)),
    ...externalIPs.flatMap((ip, i) => ipWarnings(`spec.externalIPs[${i}]`, ip)),
    ...ipWarnings('spec.loadBalancerIP', loadBalancerIP),
    ...ranges.flatMap((range, i) => {
      const path = `spec.loadBalancerSourceRanges[${i}]`
      const isPadded = range !== range.trim() && !isAtLeast(version, '1.33')
      return isPadded ? [`${path}: remove the spaces around "${range.trim()}"`] : rangeWarnings(path, range.trim())
    }),
  ]
}

function headlessWarnings({ loadBalancerIP, externalIPs = [], sessionAffinity = 'None' }: ServiceSpec): string[] {
  return [
    ...(loadBalancerIP ? ['spec.loadBalancerIP has no effect on headless services'] : []),
    ...(externalIPs.length > 0 ? ['spec.externalIPs has no effect on headless services'] : []),
    ...(sessionAffinity === 'None' ? [] : ['spec.sessionAffinity has no effect on headless services']),
  ]
}

function externalWarnings(spec: ServiceSpec, context: RuleContext): string[] {
  const { externalIPs = [], externalName, type } = spec
  if (type === 'ExternalName')
    return externalIPs.length > 0 ? ['spec.externalIPs has no effect on services of type "ExternalName"'] : []
  const warnsOfExternalIps = isAtLeast(emulationOf(context).version, '1.36') && !isHeadless(spec)
  return [
    ...(externalIPs.length > 0 && warnsOfExternalIps
      ? ['spec.externalIPs is deprecated and has no effect in some clusters']
      : []),
    ...(externalName ? ['spec.externalName has an effect only on services of type "ExternalName"'] : []),
  ]
}
