/**
 * Follows the SimulationRules for the nodes of this process: determines which pods and nodes fail, and which of them a
 * changed rule affects.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { Pod } from '../../../api/kinds/core/pod.ts'
import type { SimulationRule } from '../../../api/kinds/ops/simulation-rule.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import { Informer } from '../../../client/informers/informer.ts'
import { type Feed, fromInformer, type Source } from '../../../client/reconcile/sources.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { inDomainOf, objectKey } from '../../../client/requests/resource-type.ts'
import { ActiveRules } from '../../failures/active-rules.ts'
import { podRuleOf } from '../../failures/compile-rule.ts'
import { NodeOutages } from './node-outages.ts'
import { PodFailures } from './pod-failures.ts'

/** An informer of SimulationRules, and the feed that updates it. */
export interface FollowedRules {
  readonly informer: Informer<SimulationRule>
  readonly feed: Feed
}

/** Returns an informer of SimulationRules. If the rules cannot be listed, the nodes start without them. */
export function followRules(
  client: Client,
  vendor: Vendor,
  { onError, pageLimit }: { readonly onError: (error: unknown) => void; readonly pageLimit?: number },
): FollowedRules {
  const failed = Promise.withResolvers<void>()
  const informer = new Informer(client, inDomainOf(vendor, kinds.SimulationRule), {
    streamingLists: false,
    ...(pageLimit === undefined ? {} : { pageLimit }),
    onError: (error) => {
      failed.resolve()
      onError(error)
    },
  })
  return {
    informer,
    feed: { run: (signal) => informer.run(signal), synced: Promise.race([informer.synced, failed.promise]) },
  }
}

export interface FailureParts {
  readonly rules: FollowedRules
  readonly nodes: readonly { readonly name: string }[]
  readonly nodeObjects: Informer<Node>
  readonly pods: Informer<Pod>
  readonly vendor: Vendor
  /** Speed of the nodes, as a multiple of real time. Defaults to 1. */
  readonly speed?: number
  readonly onError: (error: unknown) => void
}

export interface Failures {
  readonly failureOf: PodFailures['annotations']
  readonly outages: NodeOutages
  /** Event sources that trigger a reconcile of the pods and nodes that a changed rule affects. */
  readonly podSources: readonly Source[]
  readonly nodeSources: readonly Source[]
}

/** Applies SimulationRules to the nodes and pods of this process. */
export function followFailures(parts: FailureParts): Failures {
  const { rules, nodeObjects, pods, vendor, speed = 1, onError } = parts
  const { informer } = rules
  const active = new ActiveRules(informer, (message) => onError(new Error(message)))
  const nodes = parts.nodes.map(({ name }) => name)
  const podsByNode = pods.index(({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
  const outages = new NodeOutages({ rules: active, nodes, nodeObjects, podsByNode })
  const podFailures = new PodFailures(active, vendor)
  let affectedNodes: readonly string[] = []
  // This handler must be registered before the event sources, so that the sources compute keys from the updated rules.
  informer.onChange(() => {
    active.invalidate()
    affectedNodes = outages.refresh()
  })
  const followed = (keysOf: (change: RuleChange) => Iterable<string>): Source => ({
    ...fromInformer(informer, keysOf),
    feed: rules.feed,
  })
  const own = new Set(nodes)
  function* affectedPods({ previous, object }: RuleChange): Iterable<string> {
    for (const node of affectedNodes) yield* podsByNode.get(node).map(objectKey)
    const matchers = [previous, object].flatMap((rule) => (rule === undefined ? [] : (podRuleOf(rule) ?? [])))
    if (matchers.length === 0) return
    for (const pod of pods.objects())
      if (own.has(pod.spec?.nodeName ?? '') && matchers.some(({ matches }) => matches(pod))) yield objectKey(pod)
  }
  return {
    failureOf: (pod) => podFailures.annotations(pod),
    outages,
    podSources: [followed(affectedPods), outages.evictions(speed)],
    nodeSources: [followed(() => affectedNodes)],
  }
}

interface RuleChange {
  readonly previous: SimulationRule | undefined
  readonly object: SimulationRule | undefined
}
