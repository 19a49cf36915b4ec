/**
 * Events about pods, as the agents of their nodes. Each node has a recorder of its own, made when it is needed; of a
 * burst over all nodes the first ones are written and the others dropped, as they only report.
 */
import type { Clock } from '../base/clock.ts'
import type { Client } from '../client/client.ts'
import { EventRecorder, type Happening } from '../client/event-recorder.ts'
import type { Pod } from '../kinds/core/pod.ts'
import type { Vendor } from '../model/vendor.ts'

export interface NodeEventParts {
  readonly clientOf: (node: string) => Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** How many events of all nodes may wait to be written. */
const maxWaiting = 200

export class NodeEvents {
  readonly #parts: NodeEventParts
  readonly #recorders = new Map<string, EventRecorder>()
  #waiting = 0

  constructor(parts: NodeEventParts) {
    this.#parts = parts
  }

  record(pod: Pod, happening: Happening): void {
    if (this.#waiting >= maxWaiting) return
    const recorder = this.#recorderOf(pod.spec?.nodeName ?? '')
    recorder.record({ ...pod, apiVersion: 'v1', kind: 'Pod' }, happening)
    this.#waiting++
    void recorder.flush().finally(() => this.#waiting--)
  }

  close(): void {
    for (const recorder of this.#recorders.values()) recorder.stop()
  }

  #recorderOf(node: string): EventRecorder {
    const { clientOf, vendor, clock, onError } = this.#parts
    const known =
      this.#recorders.get(node) ??
      new EventRecorder({ client: clientOf(node), component: vendor.nodeAgent, clock, onError })
    this.#recorders.set(node, known)
    return known
  }
}
