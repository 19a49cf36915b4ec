/**
 * The generation of an object counts changes of its desired state. A controller reports in the status which generation
 * it has observed.
 */
import { sameJson } from '../json/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import type { KindRules } from '../schema/kind.ts'

interface Counted {
  metadata: ObjectMeta
}

/** Adds counting the generation to the rules of a kind. The generation increases when `part` changes. */
export function countsGeneration<T extends Counted>(part: (object: T) => unknown, rules: KindRules<T> = {}) {
  return {
    ...rules,
    prepareForCreate: (object, context) => {
      beginGeneration(object)
      rules.prepareForCreate?.(object, context)
    },
    prepareForUpdate: (next, previous, context) => {
      rules.prepareForUpdate?.(next, previous, context)
      countGeneration(next, previous, part)
    },
  } satisfies KindRules<T>
}

/** Sets the generation of a new object to its first value. Modifies the object in place. */
export function beginGeneration(object: Counted): void {
  object.metadata.generation = 1
}

/** Increments the generation in `next` if `part`, usually the spec, has changed. */
export function countGeneration<T extends Counted>(next: T, previous: T, part: (object: T) => unknown): void {
  const { generation = 1 } = previous.metadata
  next.metadata.generation = sameJson(part(next), part(previous)) ? generation : generation + 1
}

/** Whether the update changes the desired state of the object. Always true for new objects. */
export function isNewGeneration(next: Counted, previous: Counted | undefined): boolean {
  return next.metadata.generation !== previous?.metadata.generation
}
