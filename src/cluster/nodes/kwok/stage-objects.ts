/** Follows the Stage objects of the cluster for simulated nodes. */
import type { Feed, Source } from '../../../client/reconcile/sources.ts'
import { readTemplatedStage } from '../stages/read-templated-stage.ts'
import type { Stage, StageResource } from '../stages/stage.ts'
import { CompiledObjects } from './compiled-objects.ts'
import type { FollowedObjects } from './follow-objects.ts'

export class StageObjects {
  readonly #followed: FollowedObjects
  readonly #compiled: CompiledObjects<Stage>
  #all: readonly Stage[] = []
  #byResource = new Map<StageResource, readonly Stage[]>()

  constructor(followed: FollowedObjects) {
    this.#followed = followed
    this.#compiled = new CompiledObjects(followed.informer, readTemplatedStage)
  }

  /**
   * Returns the valid stages of a resource, sorted by name. Returns the same array until one of them changes, so that
   * callers can compare by identity.
   */
  of(resource: StageResource): readonly Stage[] {
    if (this.#all !== this.#compiled.all) {
      this.#all = this.#compiled.all
      const before = this.#byResource
      this.#byResource = new Map()
      for (const each of ['Pod', 'Node'] as const) {
        const stages = this.#all.filter((stage) => stage.resource === each)
        const previous = before.get(each) ?? []
        const isSame = previous.length === stages.length && previous.every((stage, i) => stage === stages[i])
        this.#byResource.set(each, isSame ? previous : stages)
      }
    }
    return this.#byResource.get(resource) ?? []
  }

  /** Returns an event source that triggers a reconcile of the affected objects when the stages of a resource change. */
  source(resource: StageResource, keys: () => Iterable<string>): Source {
    const feed: Feed = this.#followed.feed
    return {
      feed,
      connect: (add) => {
        let known = this.of(resource)
        return this.#followed.informer.onChange(() => {
          if (known === this.of(resource)) return
          known = this.of(resource)
          for (const key of keys()) add(key)
        })
      },
    }
  }
}
