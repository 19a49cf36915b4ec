/**
 * The plugins by their names, in the order in which filters are asked: the first that refuses a node says why. Weights are
 * those of kube-scheduler 1.23 (v1beta3).
 */
import type { Plugin } from '../plugin.ts'
import { interPodAffinity } from './inter-pod-affinity.ts'
import { balancedAllocation, imageLocality, nodeResourcesFit, type ScoringStrategy } from './node-resources.ts'
import { nodeAffinity, nodeName, nodePorts, nodeUnschedulable, taintToleration } from './node-rules.ts'
import { type DefaultConstraints, podTopologySpread } from './pod-topology-spread.ts'
import { nodeVolumeLimits, volumeBinding, volumeRestrictions, volumeZone } from './volume-rules.ts'

/** What can be set for single plugins. */
export interface PluginArguments {
  readonly scoringStrategy?: ScoringStrategy
  readonly hardPodAffinityWeight?: number
  readonly defaultConstraints?: DefaultConstraints
}

/** A plugin and how much its score counts by default; 0 for one without a score. */
export interface WeightedPlugin {
  readonly plugin: Plugin
  readonly weight: number
}

/** All plugins with these settings. */
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
    { plugin: podTopologySpread(defaults === undefined ? {} : { defaults }), weight: 2 },
    { plugin: interPodAffinity(hardWeight === undefined ? {} : { hardWeight }), weight: 2 },
    { plugin: balancedAllocation, weight: 1 },
    { plugin: imageLocality, weight: 1 },
  ]
}
