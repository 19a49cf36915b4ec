/** Applies stages to the Node objects of simulated nodes, as the agents of these nodes. */
import type { Node } from '../../../api/kinds/core/node.ts'
import { asJson } from '../../../api/model/object.ts'
import { messageOf } from '../../../base/text/errors.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Happening } from '../../../client/informers/event-recorder.ts'
import * as kinds from '../../../client/requests/built-in-kinds.ts'
import type { Client } from '../../../client/requests/client.ts'
import { isConflict, isNotFound } from '../../../client/requests/status-error.ts'
import type { NodeDescription } from '../node-object.ts'
import { changedFinalizers } from '../pods/apply-stage.ts'
import type { Stage } from './stage.ts'
import { isStageFault } from './stage-error.ts'
import { StageProgress } from './stage-progress.ts'
import { toPatch } from './status-patch.ts'
import { templateFunctions } from './template-functions.ts'

export interface NodeStageParts {
  /** Returns the stages for nodes. Returns the same array until a stage changes. */
  readonly stages: () => readonly Stage[]
  readonly clientOf: (node: string) => Client
  readonly clock: Clock
  readonly startedAt: number
  readonly speed: number
  readonly record: (node: Node, event: Happening) => void
}

/** Delay in milliseconds before a stage that failed is tried again. */
const retryMs = 10_000

interface Progress {
  readonly stages: StageProgress
  /** The node's resourceVersion when a stage was last applied to it, and the stages at that time. */
  actedOn: string
  actedWith: readonly Stage[] | undefined
}

export class NodeStages {
  readonly #parts: NodeStageParts
  readonly #progress = new Map<string, Progress>()

  constructor(parts: NodeStageParts) {
    this.#parts = parts
  }

  /**
   * Applies the stage that selects the node once its delay has passed. Returns undefined if no stage selects the node,
   * and otherwise the milliseconds until the next attempt, or Infinity if only a change can lead to another stage.
   */
  async step(description: NodeDescription, node: Node, signal: AbortSignal): Promise<number | undefined> {
    const { stages: stagesOf, clock, speed } = this.#parts
    const stages = stagesOf()
    const object = asJson(node)
    if (!stages.some(({ matches }) => matches(object))) return undefined
    const progress = this.#progressOf(description.name)
    const version = node.metadata.resourceVersion ?? ''
    if (progress.actedOn === version && progress.actedWith === stages) return Number.POSITIVE_INFINITY
    const choice = { stages, limitsEach: true, clock, speed }
    const waiting = progress.stages.next({ object, version, failure: undefined }, choice)!
    const remainingMs = waiting.due - clock.monotonic()
    if (remainingMs > 0) return remainingMs
    if (!(await this.#apply(waiting.stage, { description, node }, signal))) return retryMs
    progress.actedOn = version
    progress.actedWith = stages
    progress.stages.applied(waiting, choice)
    return Number.POSITIVE_INFINITY
  }

  #progressOf(name: string): Progress {
    const progress = this.#progress.get(name) ?? { stages: new StageProgress(), actedOn: '', actedWith: undefined }
    this.#progress.set(name, progress)
    return progress
  }

  /** Applies a stage. If the stage itself is invalid, records an Event and returns false. */
  async #apply(
    stage: Stage,
    { description, node }: { readonly description: NodeDescription; readonly node: Node },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { record } = this.#parts
    try {
      await this.#write(stage, { description, node }, signal)
      if (stage.next.event !== undefined) record(node, stage.next.event)
    } catch (error) {
      if (isStageFault(error)) {
        const message = `cannot apply stage ${stage.name}: ${messageOf(error)}`
        record(node, { type: 'Warning', reason: 'StageFailed', message })
        return false
      }
      // Ignore a conflict or a 404: the change to the node triggers it again.
      if (!isConflict(error) && !isNotFound(error)) throw error
    }
    return true
  }

  async #write(
    { next }: Stage,
    { description, node }: { readonly description: NodeDescription; readonly node: Node },
    signal: AbortSignal,
  ): Promise<void> {
    const { clientOf, clock, startedAt } = this.#parts
    const { name } = description
    const client = clientOf(name)
    let current = node
    const finalizers = next.finalizers && changedFinalizers(node.metadata.finalizers ?? [], next.finalizers)
    if (finalizers !== undefined) {
      const merge = { metadata: { resourceVersion: node.metadata.resourceVersion, finalizers } }
      current = await client.patch(kinds.Node, { name }, { patch: { merge }, signal })
    }
    const functions = templateFunctions({ node: description, podIp: '', now: clock.now(), startedAt })
    for (const each of next.patches) {
      const patch = toPatch(each, current, functions)
      current = await client.patch(kinds.Node, { name }, { patch, subresource: 'status', signal })
    }
  }
}
