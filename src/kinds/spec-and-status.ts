/** What kinds share that have a wish, `spec`, and its state, `status`: each is written through a way of its own. */
import type { Subresource } from '../schema/kind.ts'

interface SpecAndStatus {
  spec?: unknown
  status?: unknown
}

/** Leaves one of the two as it is stored. Changes `next`. */
export function keep(next: SpecAndStatus, previous: SpecAndStatus, part: 'spec' | 'status'): void {
  next[part] = previous[part]
}

/** The subresource `status` where it needs no rules of its own. */
export const plainStatus: Subresource<SpecAndStatus> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: ['spec'],
  prepareForUpdate: (next, previous) => keep(next, previous, 'spec'),
}
