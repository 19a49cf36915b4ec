/** Follows the Stage objects of the cluster for simulated nodes. */
import { isObject, type Json } from '../../../api/json/json.ts'
import type { Vendor } from '../../../api/model/vendor.ts'
import type { Source } from '../../../client/reconcile/sources.ts'
import { readTemplatedStage } from '../stages/read-templated-stage.ts'
import { isStageOf, type Stage } from '../stages/stage.ts'
import { authorActor } from '../stages/stage-actor.ts'
import { StageError } from '../stages/stage-error.ts'
import { CompiledObjects } from './compiled-objects.ts'
import type { FollowedObjects } from './follow-objects.ts'
import { readAuthor, stageAuthorKey } from './stage-author.ts'

/**
 * The groups of kinds. The node loops apply stages to pods and nodes, and a separate loop applies stages to objects of
 * all other kinds.
 */
const groups = ['Pod', 'Node', 'other'] as const

export type StageGroup = (typeof groups)[number]

/** Reads a Stage object, which acts as its author. Throws StageError. */
export function readStageObject(value: Json, vendor: Vendor): Stage {
  const stage = readTemplatedStage(value)
  const metadata = isObject(value) && isObject(value.metadata) ? value.metadata : {}
  const author = isObject(metadata.annotations) ? metadata.annotations[stageAuthorKey(vendor)] : undefined
  if (typeof author !== 'string' || readAuthor(author) === undefined)
    throw new StageError('the author of the Stage is unknown: delete the Stage and create it again')
  return { ...stage, actor: authorActor(author) }
}

export class StageObjects {
  readonly #followed: FollowedObjects
  readonly #compiled: CompiledObjects<Stage>
  #all: readonly Stage[] = []
  #byGroup = new Map<StageGroup, readonly Stage[]>()

  constructor(followed: FollowedObjects, vendor: Vendor) {
    this.#followed = followed
    this.#compiled = new CompiledObjects(followed.informer, (value) => readStageObject(value, vendor))
  }

  /**
   * Returns the valid stages of a group of kinds, sorted by name. Returns the same array until one of them changes, so
   * that callers can detect changes by comparing identities.
   */
  of(group: StageGroup): readonly Stage[] {
    if (this.#all !== this.#compiled.all) {
      this.#all = this.#compiled.all
      const before = this.#byGroup
      const stagesByGroup = Map.groupBy(this.#all, groupOf)
      this.#byGroup = new Map(groups.map((each) => [each, unlessSame(before.get(each), stagesByGroup.get(each))]))
    }
    return this.#byGroup.get(group) ?? []
  }

  /** Calls the handler when the stages of a group have changed. Returns a function that removes the handler. */
  onChange(group: StageGroup, handler: () => void): () => void {
    let known = this.of(group)
    return this.#followed.informer.onChange(() => {
      if (known === this.of(group)) return
      known = this.of(group)
      handler()
    })
  }

  /** Returns an event source that triggers a reconcile of the affected objects when the stages of a group change. */
  source(group: StageGroup, keys: () => Iterable<string>): Source {
    return {
      feed: this.#followed.feed,
      connect: (add) =>
        this.onChange(group, () => {
          for (const key of keys()) add(key)
        }),
    }
  }
}

function groupOf(stage: Stage): StageGroup {
  return groups.find((group) => group !== 'other' && isStageOf(stage, group)) ?? 'other'
}

/** Returns the previous array if it contains the same stages. */
export function unlessSame(previous: readonly Stage[] = [], stages: readonly Stage[] = []): readonly Stage[] {
  const isSame = previous.length === stages.length && previous.every((stage, i) => stage === stages[i])
  return isSame ? previous : stages
}
