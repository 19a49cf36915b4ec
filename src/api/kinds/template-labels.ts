/**
 * Labels of a Job or ReplicationController that has none of its own: those of its pod template. Kubernetes fills them in
 * whenever it reads such an object, so a write of the status that leaves them out cannot remove them either.
 */
import type { ObjectMeta } from '../model/object.ts'
import type { Subresource } from '../schema/kind.ts'
import { keep, plainStatus } from './spec-and-status.ts'

interface Templated {
  metadata: ObjectMeta
  spec?: { template?: { metadata?: { labels?: { [key: string]: string } } } }
  status?: object
}

/** The subresource `status` of such a kind. */
export const statusKeepingLabels: Subresource<Templated> = {
  ...plainStatus,
  prepareForUpdate: (next, previous) => {
    keep(next, previous, 'spec')
    const labels = next.spec?.template?.metadata?.labels
    if (labels !== undefined && Object.keys(next.metadata.labels ?? {}).length === 0)
      next.metadata = { ...next.metadata, labels: { ...labels } }
  },
}
