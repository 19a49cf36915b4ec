/**
 * Records events about nodes and their pods on behalf of the nodes' agents. Each node gets its own recorder on first
 * use. A rate limit applies to all nodes together: after a burst, only a few events per second are written, because
 * events must not be as costly as the changes that they report.
 */

import type { Node } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { TokenBucket } from '../../base/limits/token-bucket.ts'
import type { Clock } from '../../base/time/clock.ts'
import { EventRecorder, type Happening } from '../../client/informers/event-recorder.ts'
import type { Client } from '../../client/requests/client.ts'

export interface NodeEventParts {
  readonly clientOf: (node: string) => Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Rate limit for all nodes together. */
const rate = { perSecond: 20, burst: 200 }

export class NodeEvents {
  readonly #parts: NodeEventParts
  readonly #recorders = new Map<string, EventRecorder>()
  readonly #bucket: TokenBucket

  constructor(parts: NodeEventParts) {
    this.#parts = parts
    this.#bucket = new TokenBucket(rate, () => parts.clock.monotonic())
  }

  record(pod: Pod, happening: Happening): void {
    if (this.#bucket.take() > 0) return
    this.#recorderOf(pod.spec?.nodeName ?? '').record({ ...pod, apiVersion: 'v1', kind: 'Pod' }, happening)
  }

  recordForNode(node: Node, happening: Happening): void {
    if (this.#bucket.take() > 0) return
    this.#recorderOf(node.metadata.name ?? '').record({ ...node, apiVersion: 'v1', kind: 'Node' }, happening)
  }

  close(): void {
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  #recorderOf(node: string): EventRecorder {
    const { clientOf, vendor, clock, onError } = this.#parts
    const existing =
      this.#recorders.get(node) ??
      new EventRecorder({ client: clientOf(node), component: vendor.nodeAgent, clock, onError })
    this.#recorders.set(node, existing)
    return existing
  }
}
