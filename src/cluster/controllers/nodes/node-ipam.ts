/**
 * Assigns pod CIDRs to every node, one from each range of the cluster. The loop reads the allocated CIDRs from the
 * nodes. A node keeps its CIDRs until it is deleted. Each write requires the node's resourceVersion, so that two
 * managers cannot assign different CIDRs to one node.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import type { IpRange } from '../../../api/model/ip-range.ts'
import type { EventRecorder } from '../../../client/informers/event-recorder.ts'
import type { Informer, ObjectChange } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import type { StepOutcome } from '../../../client/reconcile/work-queue.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import { CidrPool } from './cidr-pool.ts'

/** Pod CIDR ranges of a cluster, and the size of each node's subnet. */
export interface PodRanges {
  readonly ranges: readonly IpRange[]
  readonly ipv4Bits: number
  readonly ipv6Bits: number
  /** Service CIDR ranges, which pod CIDRs must not overlap. */
  readonly services: readonly IpRange[]
}

export interface NodeIpamParts extends PodRanges {
  readonly client: Client
  readonly recorder: EventRecorder
  readonly nodes: Informer<Node>
}

interface State extends NodeIpamParts {
  readonly pools: readonly CidrPool[]
}

export function nodeIpamLoop(parts: NodeIpamParts): Loop {
  const { ranges, ipv4Bits, ipv6Bits } = parts
  const pools = ranges.map((range) => new CidrPool(range, range.family === 'IPv4' ? ipv4Bits : ipv6Bits))
  for (const { text } of parts.services) for (const pool of pools) pool.occupy(text, '')
  const state = { ...parts, pools }
  return {
    name: 'nodeipam',
    // Reconciles one node at a time, so that nodes do not compete for the last subnet.
    concurrency: 1,
    sources: [fromInformer(parts.nodes, (change) => follow(state, change))],
    reconcile: (key, signal) => reconcile(state, key, signal),
  }
}

function follow({ pools, nodes }: State, { key, previous, object }: ObjectChange<Node>): string[] {
  for (const pool of pools) {
    for (const text of previous?.spec?.podCIDRs ?? [])
      if (!object?.spec?.podCIDRs?.includes(text)) pool.release(text, key)
    for (const text of object?.spec?.podCIDRs ?? []) pool.occupy(text, key)
  }
  // The deletion of the node has released a subnet, so a waiting node may get it.
  if (object === undefined) return waiting(nodes)
  return (object.spec?.podCIDRs ?? []).length === 0 ? [key] : []
}

function waiting(nodes: Informer<Node>): string[] {
  const waitingNodes: string[] = []
  for (const { metadata, spec } of nodes.objects())
    if ((spec?.podCIDRs ?? []).length === 0) waitingNodes.push(metadata.name!)
  return waitingNodes
}

async function reconcile(state: State, key: string, signal: AbortSignal): Promise<StepOutcome> {
  const { client, recorder, pools, nodes } = state
  const node = nodes.get(nameOfKey(key))
  if (node === undefined || (node.spec?.podCIDRs ?? []).length > 0) return 'done'
  const subnets = pools.map((pool) => pool.take(key))
  const podCIDRs = subnets.filter((text) => text !== undefined)
  const giveBack = () => {
    for (const [i, text] of subnets.entries()) if (text !== undefined) pools[i]!.release(text, key)
  }
  if (podCIDRs.length < pools.length) {
    giveBack()
    const message = `Node ${key} status is now: CIDRNotAvailable`
    recorder.record(node, { type: 'Normal', reason: 'CIDRNotAvailable', message })
    return 'done'
  }
  try {
    const spec = { ...node.spec, podCIDR: podCIDRs[0]!, podCIDRs }
    await client.update(kinds.Node, { ...node, spec }, { signal })
    return 'done'
  } catch (error) {
    giveBack()
    if (isNotFound(error)) return 'done'
    if (isConflict(error)) return 'later'
    throw error
  }
}
