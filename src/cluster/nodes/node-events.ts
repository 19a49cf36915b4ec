/**
 * Records events about nodes, their pods and other objects, either as the agent of a node or as the user on whose
 * behalf a stage acts. A recorder is created for each of these identities on first use. A rate limit applies to all
 * nodes together: after a burst, only a few events per second are written, because writing events must cost less than
 * the changes that they report.
 */

import type { Node } from '../../api/kinds/core/node.ts'
import type { Pod } from '../../api/kinds/core/pod.ts'
import type { ObjectBase } from '../../api/model/object.ts'
import type { Vendor } from '../../api/model/vendor.ts'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import { TokenBucket } from '../../base/limits/token-bucket.ts'
import type { Clock } from '../../base/time/clock.ts'
import { EventRecorder, type Happening } from '../../client/informers/event-recorder.ts'
import type { Client } from '../../client/requests/client.ts'
import { readActor } from './stages/stage-actor.ts'

export interface NodeEventParts {
  readonly clientOf: (node: string) => Client
  readonly vendor: Vendor
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Rate limit for all nodes together. */
const rate = { perSecond: 20, burst: 200 }
/** Maximum number of cached recorders for actors of stages. */
const maxActorRecorders = 100

export class NodeEvents {
  readonly #parts: NodeEventParts
  readonly #recorders = new Map<string, EventRecorder>()
  readonly #actorRecorders = new BoundedMap<string, EventRecorder>(maxActorRecorders)
  readonly #bucket: TokenBucket

  constructor(parts: NodeEventParts) {
    this.#parts = parts
    this.#bucket = new TokenBucket(rate, () => parts.clock.monotonic())
  }

  /** Records an event about a pod. `actor` is the actor of a stage, and defaults to the agent of the pod's node. */
  record(pod: Pod, happening: Happening, actor = pod.spec?.nodeName ?? ''): void {
    this.recordAs(actor, { ...pod, apiVersion: 'v1', kind: 'Pod' }, happening)
  }

  /** Records an event about a node. `actor` is the actor of a stage, and defaults to the agent of the node. */
  recordForNode(node: Node, happening: Happening, actor = node.metadata.name ?? ''): void {
    this.recordAs(actor, { ...node, apiVersion: 'v1', kind: 'Node' }, happening)
  }

  /** Records an event as the agent of a node or as the actor of a stage. */
  recordAs(actor: string, object: ObjectBase, happening: Happening): void {
    if (this.#bucket.take() > 0) return
    this.#recorderOf(actor).record(object, happening)
  }

  close(): void {
    for (const recorder of [...this.#recorders.values(), ...this.#actorRecorders.values()]) recorder.stop()
  }

  #recorderOf(actor: string): EventRecorder {
    const { clientOf, vendor, clock, onError } = this.#parts
    const recorders = readActor(actor) === undefined ? this.#recorders : this.#actorRecorders
    const existing =
      recorders.get(actor) ??
      new EventRecorder({ client: clientOf(actor), component: vendor.nodeAgent, clock, onError })
    recorders.set(actor, existing)
    return existing
  }
}
