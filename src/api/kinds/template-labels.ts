/**
 * Uses the labels of the pod template as the default labels of a Job or ReplicationController. Kubernetes applies this
 * default on every read, so a status update that omits the labels cannot remove them.
 */
import type { ObjectMeta } from '../model/object.ts'
import type { Subresource } from '../schema/kind.ts'
import { keep, plainStatus } from './spec-and-status.ts'

interface Templated {
  metadata: ObjectMeta
  spec?: { template?: { metadata?: { labels?: { [key: string]: string } } } }
  status?: object
}

/** The `status` subresource of kinds whose labels default to the labels of their pod template. */
export const statusKeepingLabels: Subresource<Templated> = {
  ...plainStatus,
  prepareForUpdate: (next, previous) => {
    keep(next, previous, 'spec')
    const labels = next.spec?.template?.metadata?.labels
    if (labels !== undefined && Object.keys(next.metadata.labels ?? {}).length === 0)
      next.metadata = { ...next.metadata, labels: { ...labels } }
  },
}
