/**
 * All plugins in the order of their filters. The first filter that excludes a node provides the reason. The weights are
 * the same as in kube-scheduler 1.23 (v1beta3).
 */
import type { Plugin } from '../plugin.ts'
import { dynamicResources } from './dynamic-resources.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'
import { balancedAllocation, imageLocality, nodeResourcesFit, type ScoringStrategy } from './node-resources.ts'
import { nodeAffinity, nodeName, nodePorts, nodeUnschedulable, taintToleration } from './node-rules.ts'
import { type DefaultConstraints, podTopologySpread } from './pod-topology-spread.ts'
import { nodeVolumeLimits, volumeBinding, volumeRestrictions, volumeZone } from './volume-rules.ts'

/** Plugin arguments from the scheduler configuration. */
export interface PluginArguments {
  readonly scoringStrategy?: ScoringStrategy
  readonly hardPodAffinityWeight?: number
  readonly defaultConstraints?: DefaultConstraints
}

/** A plugin with the default weight of its score. The weight is 0 for plugins without a score. */
export interface WeightedPlugin {
  readonly plugin: Plugin
  readonly weight: number
}

/** Returns all scheduler plugins, configured with these arguments. */
export function allPlugins(settings: PluginArguments = {}): readonly WeightedPlugin[] {
  const { scoringStrategy, hardPodAffinityWeight: hardWeight, defaultConstraints: defaults } = settings
  return [
    { plugin: nodeUnschedulable, weight: 0 },
    { plugin: nodeName, weight: 0 },
    { plugin: taintToleration, weight: 3 },
    { plugin: nodeAffinity, weight: 2 },
    { plugin: nodePorts, weight: 0 },
    { plugin: nodeResourcesFit(scoringStrategy), weight: 1 },
    { plugin: volumeRestrictions, weight: 0 },
    { plugin: nodeVolumeLimits, weight: 0 },
    { plugin: volumeBinding, weight: 0 },
    { plugin: volumeZone, weight: 0 },
    { plugin: dynamicResources, weight: 0 },
    { plugin: podTopologySpread(defaults === undefined ? {} : { defaults }), weight: 2 },
    { plugin: interPodAffinity(hardWeight === undefined ? {} : { hardWeight }), weight: 2 },
    { plugin: balancedAllocation, weight: 1 },
    { plugin: imageLocality, weight: 1 },
  ]
}
