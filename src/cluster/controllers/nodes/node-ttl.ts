/**
 * Annotates every node with how long its agent should cache Secrets and ConfigMaps. The time grows with the number of
 * nodes. The node count ranges of the steps overlap, so that the value does not flap.
 */

import type { Node } from '../../../api/kinds/core/node.ts'
import { type Vendor, vendorKey } from '../../../api/model/vendor.ts'
import type { Informer } from '../../../client/informers/informer.ts'
import type { Loop } from '../../../client/reconcile/loop.ts'
import { fromInformer } from '../../../client/reconcile/sources.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { nameOfKey } from '../../../client/requests/resource-type.ts'
import { ignoreNotFound } from '../ignore-not-found.ts'

export interface NodeTtlParts {
  readonly client: Client
  readonly vendor: Vendor
  readonly nodes: Informer<Node>
}

interface Step {
  /** With fewer nodes than this, the next smaller step applies. */
  readonly min: number
  /** With more nodes than this, the next larger step applies. */
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

/** Returns the index of the TTL step for this number of nodes. The search starts at `present`, the current index. */
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
      await ignoreNotFound(client.patch(kinds.Node, nameOfKey(key), { patch, signal }))
      return 'done'
    },
  }
}

function isChanged(a: Node, b: Node, annotation: string): boolean {
  return a.metadata.annotations?.[annotation] !== b.metadata.annotations?.[annotation]
}
