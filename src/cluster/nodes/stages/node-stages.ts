/** Applies stages to the Node objects of simulated nodes, as the agents of these nodes or as the authors of the stages. */
import type { Node } from '../../../api/kinds/core/node.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Happening } from '../../../client/informers/event-recorder.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import type { NodeDescription } from '../node-object.ts'
import { applyChanges } from './apply-changes.ts'
import type { Stage } from './stage.ts'
import { impersonatingActor } from './stage-actor.ts'
import { StagedObjects } from './staged-objects.ts'
import { templateFunctions } from './template-functions.ts'

export interface NodeStageParts {
  /** Returns the stages for nodes. Returns the same array until a stage changes. */
  readonly stages: () => readonly Stage[]
  /** Returns a client for the agent of a node, or for the actor of a stage. */
  readonly clientOf: (node: string) => Client
  readonly nodeOf: (name: string) => NodeDescription
  readonly clock: Clock
  readonly startedAt: number
  readonly speed: number
  /** Records an Event as the node's agent, or as the actor of a stage. */
  readonly record: (node: Node, event: Happening, actor?: string) => void
}

export class NodeStages {
  readonly #stages: () => readonly Stage[]
  readonly #nodes: StagedObjects<Node>

  constructor({ stages, clientOf, nodeOf, clock, startedAt, speed, record }: NodeStageParts) {
    this.#stages = stages
    this.#nodes = new StagedObjects({
      clock,
      speed,
      apply: async ({ next, actor }, node, signal) => {
        const name = node.metadata.name!
        const user = actor ?? name
        const parts = {
          finalizerClient: clientOf(user),
          patchClient: (as: string | undefined) => clientOf(as === undefined ? user : impersonatingActor(user, as)),
          functions: templateFunctions({ node: nodeOf(name), podIp: '', now: clock.now(), startedAt }),
        }
        await applyChanges({ type: kinds.Node, object: node, next }, parts, signal)
        if (next.event !== undefined) record(node, next.event, actor)
      },
      onFault: ({ name }, node, error) =>
        record(node, {
          type: 'Warning',
          reason: 'StageFailed',
          message: `cannot apply stage ${name}: ${messageOf(error)}`,
        }),
    })
  }

  /**
   * Applies the stage that selects the node, once the delay of the stage has passed. Returns the milliseconds until the
   * next attempt, or Infinity if only a change can lead to another stage. Returns undefined if no stage selects the
   * node.
   */
  async step(node: Node, signal: AbortSignal): Promise<number | undefined> {
    return await this.#nodes.step(node.metadata.name!, { object: node, stages: this.#stages() }, signal)
  }
}
