/**
 * Tells the agents of nodes for how long they may use what they have read of Secrets and ConfigMaps: the longer, the more
 * nodes there are. It is an annotation of every node. Between two sizes of the cluster there is room, so that it does not
 * change to and fro.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { unlessGone } from '../unless-gone.ts'

export interface NodeTtlParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly nodes: Informer<Node>
}

interface Step {
  /** Fewer nodes than this lead to the step before. */
  readonly min: number
  /** More nodes than this lead to the next step. */
  readonly max: number
  readonly seconds: number
}

const steps: readonly Step[] = [
  { min: 0, max: 100, seconds: 0 },
  { min: 90, max: 500, seconds: 15 },
  { min: 450, max: 1000, seconds: 30 },
  { min: 900, max: 2000, seconds: 60 },
  { min: 1800, max: Number.POSITIVE_INFINITY, seconds: 300 },
]

/** The step for so many nodes, from the present one. */
export function stepFor(present: number, nodes: number): number {
  let step = present
  while (nodes > steps[step]!.max) step++
  while (nodes < steps[step]!.min) step--
  return step
}

export function nodeTtlLoop({ client, vendor, nodes }: NodeTtlParts): Loop {
  const annotation = vendorKey(vendor, 'ttl', 'node.alpha')
  let step = 0
  return {
    name: 'ttl',
    sources: [
      fromInformer(nodes, ({ key, previous, object }) => {
        const before = step
        step = stepFor(step, nodes.size)
        if (step !== before) return Array.from(nodes.objects(), ({ metadata }) => metadata.name ?? '')
        return previous === undefined || object === undefined || isChanged(previous, object, annotation) ? [key] : []
      }),
    ],
    reconcile: async (key, signal) => {
      const node = nodes.get(nameOfKey(key))
      const value = String(steps[step]!.seconds)
      if (node === undefined || node.metadata.annotations?.[annotation] === value) return 'done'
      const patch = { merge: { metadata: { uid: node.metadata.uid, annotations: { [annotation]: value } } } }
      await unlessGone(client.patch(kinds.Node, nameOfKey(key), { patch, signal }))
      return 'done'
    },
  }
}

function isChanged(a: Node, b: Node, annotation: string): boolean {
  return a.metadata.annotations?.[annotation] !== b.metadata.annotations?.[annotation]
}
