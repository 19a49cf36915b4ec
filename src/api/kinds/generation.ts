/**
 * The generation of an object: the number of changes to what its clients ask for. A controller reports in the status
 * which generation it has seen.
 */
import { sameJson } from '../json/json.ts'
import type { ObjectMeta } from '../model/object.ts'
import type { KindRules } from '../schema/kind.ts'

interface Counted {
  metadata: ObjectMeta
}

/** Rules by which the generation counts the changes of a part of the object; `rules` are the kind's other rules. */
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

/** Gives a new object its first generation. Changes the object. */
export function beginGeneration(object: Counted): void {
  object.metadata.generation = 1
}

/** `part` returns what clients ask for: mostly the spec. Changes `next`. */
export function countGeneration<T extends Counted>(next: T, previous: T, part: (object: T) => unknown): void {
  const { generation = 1 } = previous.metadata
  next.metadata.generation = sameJson(part(next), part(previous)) ? generation : generation + 1
}

/** Whether an update asks for something else; a new object does. */
export function isNewGeneration(next: Counted, previous: Counted | undefined): boolean {
  return next.metadata.generation !== previous?.metadata.generation
}
