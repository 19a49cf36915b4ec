/**
 * The generation of an object: it counts the changes of what is asked for, so that whoever acts on it can say how far
 * it is.
 */
import { type Json, sameJson } from '../model/json.ts'
import type { ObjectMeta } from '../model/object.ts'

interface Counted {
  metadata: ObjectMeta
}

export function beginGeneration(object: Counted): void {
  object.metadata.generation = 1
}

/** `asked` gives the part of an object that is asked for: mostly its spec. Changes `next`. */
export function countGeneration<T extends Counted>(next: T, previous: T, asked: (object: T) => unknown): void {
  const { generation = 1 } = previous.metadata
  next.metadata.generation = sameJson(asked(next) as Json, asked(previous) as Json) ? generation : generation + 1
}

/** Whether an update asks for something else; a new object does. */
export function isNewGeneration(next: Counted, previous: Counted | undefined): boolean {
  return next.metadata.generation !== previous?.metadata.generation
}
