/**
 * Maintains `metadata.generation`, which counts changes to an object's desired state. Controllers report the last
 * generation that they observed.
 */
import { sameJson } from '../json/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import type { KindRules } from '../schema/kind.ts'

interface Counted {
  metadata: ObjectMeta
}

/** Extends the rules of a kind so that they maintain the generation, which increases when `part` changes. */
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

/** Whether the write has increased the generation. True for new objects. */
export function isNewGeneration(next: Counted, previous: Counted | undefined): boolean {
  return next.metadata.generation !== previous?.metadata.generation
}
