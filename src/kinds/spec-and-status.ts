/** What kinds share that have a wish, `spec`, and its state, `status`: each is written through a way of its own. */
import { defined } from '../model/json.ts'
import type { ObjectMeta } from '../model/object.ts'
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

/** The subresource `status` where the metadata cannot be written through it either. */
export const statusAlone: Subresource<SpecAndStatus & { metadata: ObjectMeta }> = {
  verbs: ['get', 'update', 'patch'],
  readOnly: ['spec', 'metadata.labels', 'metadata.annotations', 'metadata.ownerReferences', 'metadata.finalizers'],
  prepareForUpdate: (next, previous) => {
    keep(next, previous, 'spec')
    const { labels: _l, annotations: _a, ownerReferences: _o, finalizers: _f, ...rest } = next.metadata
    const { labels, annotations, ownerReferences, finalizers } = previous.metadata
    next.metadata = { ...rest, ...defined({ labels, annotations, ownerReferences, finalizers }) }
  },
}
