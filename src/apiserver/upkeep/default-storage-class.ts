/**
 * The storage class that `orch up` begins with, for claims that name none: its volumes are directories that the built-in
 * provisioner makes. One that somebody has changed stays; `--default-storage-class=false` leaves it out.
 */
import { vendorKey } from '../../api/model/vendor.ts'
import type { Loop } from '../../client/reconcile/loop.ts'
import { atStart } from '../../client/reconcile/sources.ts'
import type { Catalogue } from '../registry/catalogue/catalogue.ts'
import { createMissing } from './own-objects.ts'

/** Creates the default StorageClass once. */
export function defaultStorageClassLoop(catalogue: Catalogue): Loop {
  return {
    name: 'default-storage-class',
    sources: [atStart('standard')],
    reconcile: async (name) => {
      const classes = catalogue.stored('storage', 'storageclasses')
      if (classes === undefined) return 'done'
      const provisioner = vendorKey(classes.vendor, 'host-path')
      await createMissing(
        classes,
        { namespace: '', name },
        {
          metadata: { annotations: { [vendorKey(classes.vendor, 'is-default-class', 'storageclass')]: 'true' } },
          provisioner,
          reclaimPolicy: 'Delete',
          volumeBindingMode: 'Immediate',
          allowVolumeExpansion: true,
        },
      )
      return 'done'
    },
  }
}
